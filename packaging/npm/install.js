// Finds the program of this platform, which is in a package of its own. npm runs this file after an
// installation where it may; nothing depends on it.
const fs = require('node:fs');
const { join } = require('node:path');

const manifest = require('./package.json');
const platform = `-${process.platform}-${process.arch}`;

function program() {
  const name = Object.keys(manifest.optionalDependencies).find((n) => n.endsWith(platform));
  if (name === undefined) {
    throw new Error(`${manifest.name} has no program for ${process.platform} on ${process.arch}`);
  }
  try {
    return require.resolve(`${name}/bin/svcctl`);
  } catch {
    throw new Error(
      `the package ${name} is missing: npm ran with --omit=optional, or node_modules was made on another system.\n` +
        'Remove node_modules and install again.',
    );
  }
}

module.exports = { program };

// In place of svcctl.js the program starts without Node.js.
if (require.main === module && process.platform !== 'win32') {
  const to = join(__dirname, 'svcctl.js');
  const temp = `${to}.new`;
  try {
    fs.linkSync(program(), temp);
    fs.renameSync(temp, to);
  } catch {
    fs.rmSync(temp, { force: true }); // svcctl.js serves
  }
}
