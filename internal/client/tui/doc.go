// Package tui is the terminal interface, `svcctl ui`: the frame around the screens.
//
// The frame ([Model]) owns the state, the stack of screens, the dialogs and the command
// line. It is a model of bubbletea: Update takes a message and returns commands, View
// draws. Package remote alone talks to the server, package state holds what came from
// it, and each screen is one folder in screen. docs/checklists/add-a-screen.md says how
// to add one.
package tui
