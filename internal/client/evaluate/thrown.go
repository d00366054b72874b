package evaluate

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/internal/client/esbuild"
	"github.com/svcctl/svcctl/internal/lib/sourcemap"
	"github.com/svcctl/svcctl/internal/svc"
)

var frame = regexp.MustCompile(`config\.js:(\d+):(\d+)`)

// thrown is the error of a config that throws, with the place in its source.
func (b *bundled) thrown(req Request, a answer) error {
	text := a.Message
	if a.Name != "" && a.Name != "Error" {
		text = a.Name + ": " + text
	}
	place, ok := b.place(a.Stack)
	if !ok {
		name := b.name
		if a.File == "tooling" {
			name = filepath.Base(req.Tooling)
		}
		return advised(svc.Errorf(svc.Unprocessable, svc.CodeConfigInvalid, "%s: %s", name, text), text)
	}
	text = fmt.Sprintf("%s:%d:%d: %s", place.Source, place.Line, place.Column, text)
	if place.Content != "" {
		text += "\n\n" + strings.TrimRight(sourcemap.Frame(place), "\n") + "\n"
	}
	return advised(svc.Errorf(svc.Unprocessable, svc.CodeConfigInvalid, "%s", text), a.Message)
}

// place is the first place of a stack that is in a file of the project, or else in a package.
func (b *bundled) place(stack string) (first sourcemap.Position, ok bool) {
	for _, m := range frame.FindAllStringSubmatch(stack, -1) {
		line, _ := strconv.Atoi(m[1]) // the pattern has digits only
		column, _ := strconv.Atoi(m[2])
		p, found := b.places.Find(line, column)
		if !found || esbuild.StandsIn(p.Source) {
			continue
		}
		if !strings.Contains(p.Source, "node_modules/") {
			return p, true
		}
		if !ok {
			first, ok = p, true
		}
	}
	return first, ok
}

// advised adds what to do about an exception, if it is not the line that must be corrected.
func advised(e *svc.Error, message string) error {
	if !strings.Contains(message, "evaluated without files") && !strings.Contains(message, "No such module") {
		return e
	}
	return e.WithHint("let the build of the project evaluate the file with Node.js, and deploy what it writes to .cloudflare/output (npx cf build)")
}
