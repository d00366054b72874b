// Package rescue has the commands that work on the files of a server on this machine:
// backup, restore, verify and recovery-key. They read its registry while it serves.
package rescue
