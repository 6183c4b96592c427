'use strict';
// Loads the compiled part. CommonJS, so that a package may ask for it optionally and at once:
//   const { binding, reason } = require('@blockyard/native/addon');
// `binding` is undefined when there is nothing to load, and `reason` says why.

/** @returns {{ binding?: Record<string, any>, reason?: string }} */
function load() {
  if (process.env.BLOCKYARD_NATIVE === 'off') return { reason: 'switched off by BLOCKYARD_NATIVE=off' };
  try {
    return { binding: require('node-gyp-build')(__dirname) };
  } catch (error) {
    return { reason: String(error?.message ?? error).split('\n')[0] };
  }
}

const { binding, reason } = load();
exports.binding = binding;
exports.reason = reason;
