package esbuild

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// shiftMap makes a source map fit a file that begins with more lines than the
// one it was made for. In mappings, each line ends with a semicolon.
func shiftMap(data []byte, lines int) ([]byte, error) {
	var m struct {
		Version        int      `json:"version"`
		Sources        []string `json:"sources"`
		SourcesContent []string `json:"sourcesContent,omitempty"`
		Mappings       string   `json:"mappings"`
		Names          []string `json:"names"`
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("reading the source map: %w", err)
	}
	m.Mappings = strings.Repeat(";", lines) + m.Mappings
	shifted, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("writing the source map: %w", err)
	}
	return shifted, nil
}

// sourceMapBeside finds the map that the last line of a script points at. None,
// or one that cannot be read, is nil: maps are a help, not a need.
func sourceMapBeside(file string, content []byte) []byte {
	text := bytes.TrimSpace(content)
	last := text[bytes.LastIndexByte(text, '\n')+1:]
	name, ok := bytes.CutPrefix(last, []byte("//# sourceMappingURL="))
	if !ok || bytes.Contains(name, []byte(":")) || !filepath.IsLocal(string(name)) {
		return nil
	}
	data, err := os.ReadFile(filepath.Join(filepath.Dir(file), string(name))) //nolint:gosec // beside the script
	if err != nil || !json.Valid(data) {
		return nil
	}
	return data
}
