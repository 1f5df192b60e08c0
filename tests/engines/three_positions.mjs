// three.js plays animations of GLB files and prints the world positions of nodes.
// Input: JSON on standard input, [{file, animation, nodes: [index...], times: [seconds...]}...]; output: one JSON array, each
// {duration, positions[time][node][xyz]}.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const modules = process.argv[2];
const load = (file) => import(pathToFileURL(join(modules, 'three', file)).href);
globalThis.self ??= globalThis; // the loader looks for URL there
const THREE = await load('build/three.module.js');
const { GLTFLoader } = await load('examples/jsm/loaders/GLTFLoader.js');

async function play({ file, animation, nodes, times }) {
  const loader = new GLTFLoader();
  loader.register(() => ({ name: 'no_pictures', loadTexture: () => Promise.resolve(new THREE.Texture()) }));
  const data = readFileSync(file);
  const gltf = await loader.parseAsync(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength), '');
  const objects = await Promise.all(nodes.map((node) => gltf.parser.getDependency('node', node)));
  const clip = gltf.animations[gltf.parser.json.animations.findIndex((item) => item.name === animation)];
  const mixer = new THREE.AnimationMixer(gltf.scene);
  const action = mixer.clipAction(clip).setLoop(THREE.LoopOnce);
  action.clampWhenFinished = true;
  const positions = times.map((time) => {
    action.reset().play();
    mixer.setTime(time);
    gltf.scene.updateMatrixWorld(true);
    return objects.map((object) => new THREE.Vector3().setFromMatrixPosition(object.matrixWorld).toArray());
  });
  return { duration: clip.duration, positions };
}

const tasks = JSON.parse(readFileSync(0, 'utf8'));
const results = [];
for (const task of tasks) results.push(await play(task));
console.log(JSON.stringify(results));
