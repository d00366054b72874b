// Package dev is watch mode: it makes a version of a worker directory at each save, and
// serves the newest one at a stable address.
//
// A save goes through these steps, one save at a time: build; hold and drain the
// requests of the address (package front); create the version with the serving one as
// its parent, so that its data is branched; upload; wait until the version is ready;
// switch. If a step fails, the last good version serves on, and the problem is shown in
// the terminal and in pages. After the switch, in the background, the versions before
// are archived and the oldest are destroyed. A save of static files alone restarts
// nothing (files.go).
//
// The versions are those of any server: Config.Start returns one. The package keeps
// the list of saves, with their bundles, in .svcctl in the worker directory.
package dev
