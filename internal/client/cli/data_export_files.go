package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// exportWriter writes the records of an export to files.
type exportWriter struct {
	root  string
	title string // the first line of a script
	files map[string]*exportFile
	body  *exportBody // the object that is being written; nil for none
	odd   int         // objects whose keys are no names of files
}

// exportFile is a file of the export, which records are added to.
type exportFile struct {
	*bufio.Writer

	f *os.File
}

// exportBody is the file of an object.
type exportBody struct {
	key  string
	f    *os.File
	left int64
}

// begun reports whether the server has sent records.
func (w *exportWriter) begun() bool { return w.title != "" }

// names returns the files without those of objects.
func (w *exportWriter) names() []string {
	return append([]string{}, slices.Sorted(maps.Keys(w.files))...)
}

func (w *exportWriter) close() error {
	err := w.endBody()
	for name, file := range w.files {
		if failed := errors.Join(file.Flush(), file.f.Close()); failed != nil {
			err = errors.Join(err, fmt.Errorf("writing %s: %w", name, failed))
		}
	}
	return err
}

// add writes one record.
func (w *exportWriter) add(r api.DataExportRecord) error {
	if r.Kind == api.DataExportRecordKindBody {
		return w.part(r)
	}
	if err := w.endBody(); err != nil {
		return err
	}
	name := fileName(r.Resource)
	switch r.Kind { //nolint:exhaustive // the others are above, or unknown
	case api.DataExportRecordKindTable, api.DataExportRecordKindRow:
		return w.line(path.Join("d1", name+".sql"), []byte(r.SQL+";\n"))
	case api.DataExportRecordKindKey:
		return w.key(name, r)
	case api.DataExportRecordKindObject:
		return w.object(name, r)
	case api.DataExportRecordKindMessage:
		return w.json(path.Join("queues", name+".jsonl"), recordLine("id", r, nil))
	}
	return fmt.Errorf("the server sent a record of the kind %q, which this release does not know: update svcctl", r.Kind)
}

// fileName is the name of a resource as the name of a file.
func fileName(resource string) string {
	name := url.PathEscape(resource)
	if strings.Trim(name, ".") == "" {
		name = strings.ReplaceAll(name, ".", "%2E")
	}
	return name
}

// line adds a line to a file.
func (w *exportWriter) line(name string, text []byte) error {
	file := w.files[name]
	if file == nil {
		f, err := w.create(name)
		if err != nil {
			return err
		}
		file = &exportFile{bufio.NewWriter(f), f}
		if w.files == nil {
			w.files = map[string]*exportFile{}
		}
		w.files[name] = file
		if path.Ext(name) == ".sql" {
			_, _ = file.WriteString(w.title + "PRAGMA defer_foreign_keys=TRUE;\n") // Flush returns the error
		}
	}
	_, err := file.Write(text)
	return err
}

// create makes a file that does not exist.
func (w *exportWriter) create(name string) (*os.File, error) {
	full := filepath.Join(w.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil { //nolint:gosec // the user's umask decides
		return nil, err
	}
	return os.OpenFile(full, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // the same
}

func (w *exportWriter) json(name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return w.line(name, append(text, '\n'))
}

// key writes a key as svcctl kv bulk reads it.
func (w *exportWriter) key(namespace string, r api.DataExportRecord) error {
	if r.Op == api.DataExportRecordOpDelete {
		return w.json(path.Join("kv", "deleted", namespace+".jsonl"), map[string]string{"key": r.Key})
	}
	p := printedPair{Key: r.Key}
	switch v := r.Values["value"].(type) {
	case string:
		p.Value = v
	case map[string]any:
		p.Value, _ = v["$base64"].(string)
		p.Base64 = true
	}
	if n, ok := r.Values["expiration"].(json.Number); ok {
		p.Expiration, _ = n.Int64()
	}
	if m, ok := r.Values["metadata"]; ok {
		var err error
		if p.Metadata, err = json.Marshal(m); err != nil {
			return err
		}
	}
	return w.json(path.Join("kv", namespace+".jsonl"), p)
}

// recordLine is a record as one line: its id, its values, and what happened to it.
func recordLine(id string, r api.DataExportRecord, more map[string]any) map[string]any {
	line := map[string]any{id: r.Key, "op": r.Op}
	maps.Copy(line, r.Values)
	maps.Copy(line, more)
	if r.Op == api.DataExportRecordOpDelete {
		line["deleted"] = true
	}
	return line
}

// object writes the metadata of an object, and opens the file of its body.
func (w *exportWriter) object(bucket string, r api.DataExportRecord) error {
	index := path.Join("r2", bucket+".jsonl")
	if r.Op == api.DataExportRecordOpDelete {
		return w.json(index, recordLine("key", r, nil))
	}
	size, _ := r.Values["size_bytes"].(json.Number)
	left, err := size.Int64()
	if err != nil {
		return fmt.Errorf("size of object %q: %w", r.Key, err)
	}
	name, f, err := w.createObject(bucket, r.Key)
	if err != nil {
		return fmt.Errorf("writing object %q: %w", r.Key, err)
	}
	w.body = &exportBody{key: r.Key, f: f, left: left}
	return w.json(index, recordLine("key", r, map[string]any{"file": name}))
}

// createObject makes the file of an object. A key that is no name of a file, or that
// another object's file prevents, gets a number instead.
func (w *exportWriter) createObject(bucket, key string) (name string, f *os.File, err error) {
	local := filepath.FromSlash(key)
	if filepath.IsLocal(local) && filepath.Clean(local) == local {
		name = path.Join("r2", bucket, key)
		if f, err = w.create(name); err == nil {
			return name, f, nil
		}
	}
	w.odd++
	name = path.Join("r2", bucket+".other", strconv.Itoa(w.odd))
	f, err = w.create(name)
	return name, f, err
}

// part writes a part of a body.
func (w *exportWriter) part(r api.DataExportRecord) error {
	if w.body == nil || w.body.key != r.Key {
		return fmt.Errorf("the answer is not what the API promises: a body of %q without its object", r.Key)
	}
	w.body.left -= int64(len(r.Data))
	_, err := w.body.f.Write(r.Data)
	return err
}

// endBody closes the file of the last object.
func (w *exportWriter) endBody() error {
	b := w.body
	if w.body = nil; b == nil {
		return nil
	}
	err := b.f.Close()
	if b.left != 0 {
		err = errors.Join(err, fmt.Errorf("body of object %q: %w", b.key, client.ErrIncomplete))
	}
	return err
}
