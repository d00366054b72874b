package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// wranglers are what two releases of wrangler read and write.
type wranglers struct {
	Keys   changes // of project files
	Output changes // versions of the Build Output that are written, and types of bindings in it
}

var (
	outputVersion = regexp.MustCompile(`BUILD_OUTPUT_VERSION = "([^"]+)"`)
	outputTypes   = regexp.MustCompile(`type: literal\("([a-z0-9-]+)"\)`)
)

// compareWrangler compares the schema of project files of two releases, and what they write as Build Output.
func (r registry) compareWrangler(ctx context.Context, temp, before, after string) (w wranglers, err error) {
	if before == after {
		return w, nil
	}
	keys, output := map[string][]string{}, map[string][]string{}
	for _, version := range []string{before, after} {
		tarball, err := r.download(ctx, temp, "wrangler@"+version)
		if err != nil {
			return w, err
		}
		if keys[version], err = schemaKeys(tarball); err != nil {
			return w, fmt.Errorf("wrangler@%s: %w", version, err)
		}
		program, err := unpack(tarball, "package/wrangler-dist/cli.js")
		if err != nil {
			return w, fmt.Errorf("wrangler@%s: %w", version, err)
		}
		output[version] = outputOf(program)
	}
	return wranglers{compare(keys[before], keys[after]), compare(output[before], output[after])}, nil
}

// schemaKeys are the keys of project files: those of all definitions of the schema, with the definition.
func schemaKeys(tarball []byte) (keys []string, err error) {
	text, err := unpack(tarball, "package/config-schema.json")
	if err != nil {
		return nil, err
	}
	var s struct {
		Definitions map[string]struct {
			Properties map[string]json.RawMessage `json:"properties"`
		} `json:"definitions"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(s.Definitions)) {
		for _, key := range slices.Sorted(maps.Keys(s.Definitions[name].Properties)) {
			keys = append(keys, name+"."+key)
		}
	}
	return keys, nil
}

// outputOf is what wrangler writes as Build Output.
func outputOf(program []byte) (list []string) {
	for _, m := range outputVersion.FindAllSubmatch(program, -1) {
		list = append(list, "version "+string(m[1]))
	}
	for _, m := range outputTypes.FindAllSubmatch(program, -1) {
		list = append(list, "type "+string(m[1]))
	}
	slices.Sort(list)
	return slices.Compact(list)
}
