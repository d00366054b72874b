package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// registry is the registry of packages that npm is configured for.
type registry struct{ npm string }

// platforms are the packages of workerd with a pinned checksum.
//
//nolint:gochecknoglobals // a constant list
var platforms = []string{"@cloudflare/workerd-linux-64", "@cloudflare/workerd-linux-arm64"}

// release is one workerd.
type release struct {
	packages map[string]digests // by the names of platforms
	program  []byte             // for Linux on x64
	path     string             // of the program
	line     string             // what it prints for --version
	date     string             // the newest compatibility date that it knows
}

type digests struct{ integrity, binary string }

// view asks npm for a field of a package.
func (r registry) view(ctx context.Context, spec, field string) (value string, err error) {
	cmd := exec.CommandContext(ctx, r.npm, "view", spec, field, "--json", "--loglevel=error")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &value)
	}
	if err != nil || value == "" {
		return "", fmt.Errorf("npm view %s %s: %q: %w", spec, field, bytes.TrimSpace(out), err)
	}
	return value, nil
}

// newest returns the newest releases, but for those that are wanted.
func (r registry) newest(ctx context.Context, wanted pins) (p pins, err error) {
	for _, pkg := range []struct {
		name   string
		wanted string
		to     *string
	}{
		{"workerd", wanted.Workerd, &p.Workerd},
		{"wrangler", wanted.Wrangler, &p.Wrangler},
		{"@cloudflare/vite-plugin", wanted.VitePlugin, &p.VitePlugin},
		{"@cloudflare/workers-types", wanted.Types, &p.Types},
	} {
		if *pkg.to = pkg.wanted; pkg.wanted != "" {
			continue
		}
		if *pkg.to, err = r.view(ctx, pkg.name, "dist-tags.latest"); err != nil {
			return p, err
		}
	}
	return p, nil
}

// release downloads a workerd for all platforms, and compares its checksums with those of the registry.
func (r registry) release(ctx context.Context, temp, version string) (rel release, err error) {
	rel.packages = map[string]digests{}
	for _, name := range platforms {
		integrity, err := r.view(ctx, name+"@"+version, "dist.integrity")
		if err != nil {
			return rel, err
		}
		tarball, err := r.download(ctx, temp, name+"@"+version)
		if err != nil {
			return rel, err
		}
		if got := checksum(tarball); got != integrity {
			return rel, fmt.Errorf("the package %s@%s is %s, and the registry says %s", name, version, got, integrity)
		}
		program, err := unpack(tarball, "package/bin/workerd")
		if err != nil {
			return rel, fmt.Errorf("%s@%s: %w", name, version, err)
		}
		rel.packages[name] = digests{integrity, checksum(program)}
		if rel.program == nil {
			rel.program = program
		}
	}
	rel.path = filepath.Join(temp, "workerd")
	return rel, os.WriteFile(rel.path, rel.program, 0o755) //nolint:gosec // a program
}

// download returns the tarball of a package.
func (r registry) download(ctx context.Context, temp, spec string) ([]byte, error) {
	dir, err := os.MkdirTemp(temp, "pack-")
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, r.npm, "pack", spec, "--pack-destination", dir, "--loglevel=error")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("npm pack %s: %w", spec, err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(files) != 1 {
		return nil, cmp.Or(err, fmt.Errorf("npm pack %s made %d files", spec, len(files)))
	}
	return os.ReadFile(files[0])
}

func checksum(data []byte) string {
	sum := sha512.Sum512(data)
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

// unpack returns a file of a tarball.
func unpack(tarball []byte, name string) ([]byte, error) {
	zip, err := gzip.NewReader(bytes.NewReader(tarball))
	if err != nil {
		return nil, err
	}
	archive := tar.NewReader(zip)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("the package has no %s", name)
		}
		if err != nil {
			return nil, err
		}
		if h.Name == name {
			return io.ReadAll(archive)
		}
	}
}
