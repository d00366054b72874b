// Package inspect lets debuggers attach to the workers of watch mode. Its handler stands
// at one stable port of this machine, as that of Node.js does: it lists the workers at
// /json, /json/list and /json/version, and passes the websocket of each on to the
// inspector of the version that serves now.
//
// workerd does not know the source maps of a worker. The proxy adds them to the scripts
// that workerd reports, with the absolute paths of the sources, so that an editor finds
// its own files.
//
// When another version serves, the websockets to the version before are closed with 1012
// (service restart): a debugger connects again and sets its breakpoints in the scripts of
// the new version. A debugger can run any code in the worker. So pages of a browser cannot
// attach, and no server outside of watch mode has an inspector.
package inspect
