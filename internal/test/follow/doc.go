// Command follow moves the pins of this repository to the newest workerd, wrangler and Vite plugin, and says what
// differs: make follow.
//
// It asks npm for the newest releases, downloads workerd for both architectures, compares its checksum with the
// registry's, and reads version, newest compatibility date and flags from the program itself: the flags are in the
// schema that every workerd embeds. Then it writes the pins, runs the gate (tests of the pinned program, the types, the
// differential suite, the applications of frameworks), and writes a report. It exits with 1 if the gate is red, and
// leaves the changed files for a person to read. -commit makes the one commit of a green gate.
//
// It needs npm, and Linux on x64, where the downloaded program runs.
package main
