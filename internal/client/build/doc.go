// Package build turns a worker's directory into a bundle: it reads the project
// file, runs the project's build command, bundles the modules and packs them
// with the migrations and seeds. Uploading the bundle and creating a version is the
// caller's next step.
//
// Errors for people are *svc.Error, those of packages project, esbuild and
// bundle among them; its own are build_command_failed, entry_missing and
// project_unnamed. Bundle is safe for concurrent use.
package build
