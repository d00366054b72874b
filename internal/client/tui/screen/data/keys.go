package data

import (
	"github.com/charmbracelet/bubbles/key"

	"github.com/svcctl/svcctl/internal/client/tui/ui"
)

// Keys implements ui.Screen.
func (c *Screen) Keys() []key.Binding {
	switch c.kind {
	case value:
		return []key.Binding{ui.Key("copy; the value", "y"), ui.Key("change; the value", "e"), ui.Key("download; the value", "D"), ui.Key("delete; the key", "x")}
	case message:
		return []key.Binding{ui.Key("copy; the body", "y")}
	case messages:
		return []key.Binding{
			ui.Key("open", "enter"), ui.Key("pause or resume; the delivery", "H"), ui.Key("redrive; delivers dead messages again", "V"), ui.Key("purge; deletes all messages", "x"),
			ui.Key("copy; the row", "y"),
		}
	case instances, steps:
		return []key.Binding{
			ui.Key("open", "enter"), ui.Key("pause or resume", "H"), ui.Key("terminate", "x"), ui.Key("next page; N the one before", "n"), ui.Key("copy; the row", "y"),
		}
	}
	all := []key.Binding{ui.Key("open", "enter"), ui.Key("next page; N the one before", "n")}
	switch c.kind {
	case keys:
		all = append(all, ui.Key("change; the value", "e"), ui.Key("set a value", "a"), ui.Key("delete; the key", "x"), ui.Key("download; the value", "D"), ui.Key("prefix", "P"))
	case objects:
		all = append(all, ui.Key("download; the object", "D"), ui.Key("prefix", "P"))
	case diff:
		return []key.Binding{ui.Key("compare; with another version", "c"), ui.Key("copy; the row", "y")}
	case stores:
		all = append(all, ui.Key("SQL", "Q"), ui.Key("compare; what was written since the fork, here and in the parent", "c"))
	default:
		all = append(all, ui.Key("SQL", "Q"))
	}
	return append(all, ui.Key("copy; the row", "y"))
}
