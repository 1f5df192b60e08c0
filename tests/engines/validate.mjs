// Khronos glTF validator: prints, for each file, how often each error and warning code occurs.
// Arguments: the node_modules folder, then files. Output: one JSON array of {errors: {code: count}, warnings: {code: count}}.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';

const [modules, ...files] = process.argv.slice(2);
const validator = createRequire(import.meta.url)(join(modules, 'gltf-validator'));

async function validate(file) {
  const report = await validator.validateBytes(new Uint8Array(readFileSync(file)), {
    maxIssues: 0,
    externalResourceFunction: async (uri) => new Uint8Array(readFileSync(resolve(dirname(file), decodeURIComponent(uri)))),
  });
  const counts = [{}, {}];
  for (const { severity, code } of report.issues.messages) {
    if (severity < 2) counts[severity][code] = (counts[severity][code] ?? 0) + 1;
  }
  return { errors: counts[0], warnings: counts[1] };
}

const reports = [];
for (const file of files) reports.push(await validate(file));
console.log(JSON.stringify(reports));
