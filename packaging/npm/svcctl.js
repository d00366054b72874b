#!/usr/bin/env node
// Runs the program of this platform. Where npm runs scripts, install.js puts the program in place of
// this file.
const { spawn } = require('node:child_process');
const { program } = require('./install.js');

function fail(error) {
  console.error(`svcctl: ${error.message}`);
  process.exit(1);
}

let path;
try {
  path = program();
} catch (error) {
  fail(error);
}
const child = spawn(path, process.argv.slice(2), { stdio: 'inherit' });
// A terminal sends Ctrl-C to the program, too; other signals are meant for it.
for (const signal of ['SIGINT', 'SIGQUIT']) process.on(signal, () => {});
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', fail);
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
