// three.js plays BVH files and prints the world positions of their bones, end sites left out.
// Input: JSON on standard input, [{file, times: [seconds...]}...]; output: one JSON array, each {names, positions[time][bone][xyz]}.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const modules = process.argv[2];
const load = (file) => import(pathToFileURL(join(modules, 'three', file)).href);
const THREE = await load('build/three.module.js');
const { BVHLoader } = await load('examples/jsm/loaders/BVHLoader.js');

function play({ file, times }) {
  const { skeleton, clip } = new BVHLoader().parse(readFileSync(file, 'utf8'));
  const root = skeleton.bones[0];
  const bones = skeleton.bones.filter((bone) => bone.name !== 'ENDSITE');
  const mixer = new THREE.AnimationMixer(root);
  const action = mixer.clipAction(clip).setLoop(THREE.LoopOnce);
  action.clampWhenFinished = true;
  const positions = times.map((time) => {
    action.reset().play();
    mixer.setTime(time);
    root.updateMatrixWorld(true);
    return bones.map((bone) => new THREE.Vector3().setFromMatrixPosition(bone.matrixWorld).toArray());
  });
  return { names: bones.map((bone) => bone.name), positions };
}

console.log(JSON.stringify(JSON.parse(readFileSync(0, 'utf8')).map(play)));
