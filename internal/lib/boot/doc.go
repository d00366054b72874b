// Package boot tells one boot of the machine from another: what a process wrote and did not
// sync may be lost or torn after the next one. ID may be called at any time; it fails when the
// system does not say.
package boot
