// Runs the tools of others: reads a list of jobs from a file, writes their files and the seconds each took.
// A job: {input, output, steps: [["resample", tolerance] | ["three"] | ["pack", ...arguments] | ["meshopt", level]]}
import fs from 'node:fs';
import { NodeIO, Logger } from '@gltf-transform/core';
import { ALL_EXTENSIONS } from '@gltf-transform/extensions';
import { resample, meshopt } from '@gltf-transform/functions';
import { MeshoptEncoder, MeshoptDecoder } from 'meshoptimizer';
import { ready, resample as keyframes } from 'keyframe-resample';
import { pack } from 'gltfpack';

const list = process.argv[2];
await MeshoptEncoder.ready;
await MeshoptDecoder.ready;
const quiet = new Logger(Logger.Verbosity.SILENT);
const io = new NodeIO().setLogger(quiet).registerExtensions(ALL_EXTENSIONS)
  .registerDependencies({ 'meshopt.encoder': MeshoptEncoder, 'meshopt.decoder': MeshoptDecoder });
const files = { read: (name) => fs.readFileSync(name), write: (name, data) => fs.writeFileSync(name, data) };

const done = [];
for (const job of JSON.parse(fs.readFileSync(list))) {
  const start = performance.now();
  let from = job.input;
  for (const [tool, ...rest] of job.steps) {
    if (tool === 'pack') {
      await pack([...rest, '-kn', '-i', from, '-o', job.output], files);
    } else {
      const document = await io.readBinary(fs.readFileSync(from));
      document.setLogger(quiet);
      if (tool === 'resample') await document.transform(resample({ ready, resample: keyframes, tolerance: rest[0] }));
      if (tool === 'meshopt') await document.transform(meshopt({ encoder: MeshoptEncoder, level: rest[0] }));
      fs.writeFileSync(job.output, await io.writeBinary(document));
    }
    from = job.output;
  }
  done.push((performance.now() - start) / 1e3);
}
fs.writeFileSync(list, JSON.stringify(done));
