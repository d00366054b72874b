package bundle

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

//go:embed manifest.schema.json
var schema []byte

// Schema is the JSON schema (2020-12) of manifest.json.
func Schema() []byte { return slices.Clone(schema) }

// Encode writes the manifest as manifest.json holds it. Equal manifests give
// equal bytes.
func (m Manifest) Encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(m); err != nil {
		return nil, fmt.Errorf("encoding the manifest: %w", err)
	}
	return b.Bytes(), nil
}

// Decode reads manifest.json. Fields it does not know and manifests of a newer
// format are refused, and so is what Validate refuses.
func Decode(data []byte) (Manifest, error) {
	var version struct {
		SchemaVersion int `json:"schema_version"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return Manifest{}, refuse(codeManifest, "manifest.json cannot be read: %s", err)
	}
	if version.SchemaVersion > SchemaVersion {
		return Manifest{}, refuse(codeVersion, "the bundle is of format %d and this server reads up to %d", version.SchemaVersion, SchemaVersion).
			WithHint("upgrade the server, or pack with an older client")
	}
	var m Manifest
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return Manifest{}, refuse(codeManifest, "manifest.json cannot be read: %s", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Manifest{}, refuse(codeManifest, "manifest.json holds more than one value")
	}
	return m, m.Validate()
}

// Load reads the manifest of a bundle that Extract unpacked into dir.
func Load(dir string) (Manifest, error) {
	data, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err != nil {
		return Manifest{}, fmt.Errorf("reading the manifest: %w", err)
	}
	return Decode(data)
}
