package assets

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// The files of a directory that are rules and not assets.
const (
	ignoreFile    = ".assetsignore"
	redirectsFile = "_redirects"
	headersFile   = "_headers"
)

// Request says which assets to collect.
type Request struct {
	Dir     string   // absolute
	Project string   // directory of the project file: if it is Dir, its own files are no assets
	Ignore  []string // lines of an .assetsignore, before those of the directory's own
}

// Found are the assets of a directory.
type Found struct {
	Files     []bundle.File     // in the order of their paths, without hashes
	Disk      map[string]string // where they lie, by their paths in the bundle
	Redirects []bundle.Redirect
	Headers   []bundle.HeaderRule
	Notices   []string
}

// own are the files of a project that is its own directory of assets: secrets, sources
// of others, and tools' files.
const own = "/.git\n/.wrangler\n/.svcctl\nnode_modules\n/.env*\n/.dev.vars*\n/wrangler.json*\n/wrangler.toml\n"

// private are files of developers, which are no assets unless the .assetsignore takes them back.
const private = ".git\nnode_modules\n.env*\n.dev.vars*\n"

// Collect finds the assets below a directory. Errors are Unprocessable: assets_missing
// for a directory that does not exist, assets_invalid for a worker among the assets and for links that lead
// out of the directory.
func Collect(req Request) (Found, error) {
	info, err := os.Stat(req.Dir)
	if err != nil || !info.IsDir() {
		return Found{}, svc.Errorf(svc.Unprocessable, svc.CodeAssetsMissing, "the directory of the assets %s does not exist", req.Dir).
			WithHint("run the build of the project first, or correct assets.directory")
	}
	f := Found{Disk: map[string]string{}}
	lines := strings.Join(req.Ignore, "\n") + "\n"
	if filepath.Clean(req.Dir) == filepath.Clean(req.Project) {
		lines += own
	}
	text, err := readRules(req.Dir, ignoreFile)
	if err != nil {
		return Found{}, err
	}
	lines += text + "\n/" + ignoreFile + "\n/" + redirectsFile + "\n/" + headersFile + "\n"
	if err := f.collect(req.Dir, parseIgnore(lines)); err != nil {
		return Found{}, err
	}
	if err := f.checkWorker(req.Dir); err != nil {
		return Found{}, err
	}
	return f, f.rules(req.Dir)
}

// checkWorker looks for a worker of Pages among the assets, whose code would be public. As
// with wrangler it is an error only without an .assetsignore, which is where a project says what is public.
func (f *Found) checkWorker(dir string) error {
	const name = "_worker.js"
	if !slices.ContainsFunc(f.Files, func(file bundle.File) bool {
		asset := bundle.AssetName(file.Path)
		return asset == name || strings.HasPrefix(asset, name+"/")
	}) {
		return nil
	}
	at, ignored := filepath.Join(dir, name), filepath.Join(dir, ignoreFile)
	if _, err := os.Stat(ignored); err != nil {
		return svc.Errorf(svc.Unprocessable, svc.CodeAssetsInvalid, "worker module %s is inside the assets directory and would be public", at).
			WithHint("name it in %s, or move it elsewhere", ignored)
	}
	f.Notices = append(f.Notices, fmt.Sprintf("worker module %s is inside the assets directory and is public; name it in %s", at, ignored))
	return nil
}

// add takes a file.
func (f *Found) add(at, name string, info fs.FileInfo) {
	place := bundle.AssetPath(path.Clean(name))
	f.Files = append(f.Files, bundle.File{Path: place, Size: info.Size()})
	f.Disk[place] = at
	if info.Size() > bundle.DefaultAssetBytes {
		f.Notices = append(f.Notices, fmt.Sprintf("%s: the asset has %d MiB; a server takes %d MiB unless it was told otherwise",
			at, info.Size()>>20, bundle.DefaultAssetBytes>>20))
	}
	if len(f.Files) == bundle.DefaultFiles+1 {
		f.Notices = append(f.Notices, fmt.Sprintf("there are more than %d assets, beginning with %s; a server takes that many unless it was told otherwise",
			bundle.DefaultFiles, at))
	}
}

// rules reads the rules of the directory.
func (f *Found) rules(dir string) error {
	redirects, err := readRules(dir, redirectsFile)
	if err != nil {
		return err
	}
	headers, err := readRules(dir, headersFile)
	if err != nil {
		return err
	}
	var more []string
	f.Redirects, more = ParseRedirects(filepath.Join(dir, redirectsFile), redirects)
	f.Notices = append(f.Notices, more...)
	f.Headers, more = ParseHeaders(filepath.Join(dir, headersFile), headers)
	f.Notices = append(f.Notices, more...)
	return nil
}

// readRules reads a file of rules; "" for one that is absent.
func readRules(dir, name string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read assets: %w", err)
	}
	return string(data), nil
}
