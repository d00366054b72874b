// Package notify tells a service manager (systemd, Type=notify) what state this process
// is in. Without a manager every call does nothing.
//
// Package cli/serve calls it.
package notify
