package data

import (
	"path"
	"strings"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
)

// download asks for the name of a file for a value or an object.
func (c *Screen) download(key string) ui.Intent {
	if key == "" {
		return ui.Note{Text: "nothing to download"}
	}
	of := state.Download{Project: c.place.Project, Version: c.place.Version, Binding: c.arg[0], Key: key, Object: c.kind == objects}
	return ui.Input{Title: "Download " + key, Label: "File that does not exist yet", Text: fileName(key), Then: func(text string) ui.Intent {
		if of.Path = text; text == "" {
			return ui.Note{Text: "nothing was saved"}
		}
		return ui.Fetch{Of: of}
	}}
}

// fileName suggests a name in this directory: the last part of the key, without characters
// that mean something to a shell or a terminal, and no hidden file.
func fileName(key string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, path.Base(key))
	if name = strings.TrimLeft(name, ".-"); name == "" {
		return "download"
	}
	return name
}
