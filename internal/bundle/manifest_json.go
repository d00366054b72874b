package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/svc"
)

// Encode returns the bytes of manifest.json. Equal manifests give equal bytes.
func (m Manifest) Encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(m); err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	return b.Bytes(), nil
}

// Decode reads manifest.json. It rejects unknown fields, manifests of another
// format and whatever Validate rejects.
func Decode(data []byte) (Manifest, error) {
	if err := checkFormat(data); err != nil {
		return Manifest{}, err
	}
	var m Manifest
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return Manifest{}, refuse(svc.CodeManifestInvalid, "read manifest.json: %s", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Manifest{}, refuse(svc.CodeManifestInvalid, "read manifest.json: more than one value")
	}
	return m, m.Validate()
}

// checkFormat refuses a manifest of another format by its number alone: its fields may mean
// something else.
func checkFormat(data []byte) error {
	var m struct {
		SchemaVersion int `json:"schema_version"`
	}
	err := json.Unmarshal(data, &m)
	switch n := m.SchemaVersion; {
	case err != nil:
		return refuse(svc.CodeManifestInvalid, "read manifest.json: %s", err)
	case n < SchemaVersion:
		return refuse(svc.CodeManifestVersion, "the bundle has format %d; this program reads format %d", n, SchemaVersion).
			WithHint("pack the worker again with svcctl 0.1.0 or a later one")
	case n > SchemaVersion:
		return refuse(svc.CodeManifestVersion, "the bundle has format %d; this program reads format %d", n, SchemaVersion).
			WithHint("upgrade the server, or pack with an older client")
	}
	return nil
}

// Load reads the manifest of a bundle that Extract unpacked into dir.
func Load(dir string) (Manifest, error) {
	data, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err != nil {
		return Manifest{}, fmt.Errorf("read manifest: %w", err)
	}
	return Decode(data)
}
