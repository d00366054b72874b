// Command ociimage writes an image of one layer, the files of a directory, as an OCI archive
// that releases of Docker before OCI archives read, too.
// The same files give the same bytes: times are the commit's, owners are given, nothing is
// asked of a registry.
//
//	ociimage -root DIR -arch amd64 -version V -time UNIX -o OUT.tar
//
// All files belong to root but what is below var/lib/svcctl, which belongs to the user.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	user    = 65532
	dataDir = "var/lib/svcctl"
)

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

type manifest struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Config        *descriptor  `json:"config,omitempty"`
	Layers        []descriptor `json:"layers,omitempty"`
	Manifests     []descriptor `json:"manifests,omitempty"`
}

// saved is an image in the form of docker save, with paths of the same blobs.
type saved struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// blob is the path of what d describes.
func blob(d descriptor) string { return "blobs/" + strings.Replace(d.Digest, ":", "/", 1) }

func main() {
	root := flag.String("root", "", "directory with the files")
	arch := flag.String("arch", "", "architecture")
	version := flag.String("version", "", "version of the program")
	unix := flag.Int64("time", 0, "time of the commit, in seconds")
	out := flag.String("o", "", "archive to write")
	flag.Parse()
	if *root == "" || *arch == "" || *out == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := write(*root, *arch, *version, time.Unix(*unix, 0).UTC(), *out); err != nil {
		fmt.Fprintln(os.Stderr, "ociimage:", err)
		os.Exit(1)
	}
}

func write(root, arch, version string, at time.Time, out string) error {
	layer, diffID, err := layerOf(root, at)
	if err != nil {
		return err
	}
	blobs := map[string][]byte{}
	add := func(mediaType string, data []byte) descriptor {
		sum := sha256.Sum256(data)
		digest := hex.EncodeToString(sum[:])
		blobs["blobs/sha256/"+digest] = data
		return descriptor{MediaType: mediaType, Digest: "sha256:" + digest, Size: len(data)}
	}
	config, err := json.Marshal(configOf(arch, version, at, diffID))
	if err != nil {
		return err
	}
	of := manifest{SchemaVersion: 2, MediaType: "application/vnd.oci.image.manifest.v1+json"}
	c := add("application/vnd.oci.image.config.v1+json", config)
	of.Config, of.Layers = &c, []descriptor{add("application/vnd.oci.image.layer.v1.tar+gzip", layer)}
	text, err := json.Marshal(of)
	if err != nil {
		return err
	}
	m := add(of.MediaType, text)
	m.Platform = &platform{arch, "linux"}
	m.Annotations = map[string]string{
		"org.opencontainers.image.ref.name": "svcctl:" + version,
		"io.containerd.image.name":          "docker.io/library/svcctl:" + version, // what a kubelet asks for when a pod says svcctl:VERSION
	}
	index, err := json.Marshal(manifest{SchemaVersion: 2, MediaType: "application/vnd.oci.image.index.v1+json", Manifests: []descriptor{m}})
	if err != nil {
		return err
	}
	blobs["index.json"], blobs["oci-layout"] = index, []byte(`{"imageLayoutVersion":"1.0.0"}`)
	if blobs["manifest.json"], err = json.Marshal([]saved{{blob(c), []string{"svcctl:" + version}, []string{blob(of.Layers[0])}}}); err != nil {
		return err
	}
	return archive(blobs, at, out)
}

func configOf(arch, version string, at time.Time, diffID string) map[string]any {
	return map[string]any{
		"architecture": arch, "os": "linux", "created": at.Format(time.RFC3339),
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{diffID}},
		"history": []any{map[string]any{"created": at.Format(time.RFC3339), "created_by": "packaging/image/build"}},
		"config": map[string]any{
			"User": fmt.Sprintf("%d:%d", user, user), "WorkingDir": "/" + dataDir, "StopSignal": "SIGTERM",
			"ExposedPorts": map[string]any{"8787/tcp": map[string]any{}, "8790/tcp": map[string]any{}},
			"Volumes":      map[string]any{"/" + dataDir: map[string]any{}},
			"Env": []string{
				"PATH=/usr/bin", "HOME=/" + dataDir, "SVC_DATA_DIR=/" + dataDir,
				"SVC_LISTEN_HOST=0.0.0.0", "SVC_LOG_FORMAT=json",
			},
			"Entrypoint": []string{"/usr/bin/svcd"}, "Cmd": []string{"serve"},
			"Labels": map[string]string{
				"org.opencontainers.image.title": "svcctl", "org.opencontainers.image.version": version,
				"org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.source": "https://github.com/svcctl/svcctl",
			},
		},
	}
}

// layerOf returns the compressed layer and the digest of its tar.
func layerOf(root string, at time.Time) (data []byte, diffID string, err error) {
	var out bytes.Buffer
	sum := sha256.New()
	z, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return nil, "", err
	}
	w := tar.NewWriter(io.MultiWriter(z, sum))
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		return add(w, root, path, at)
	})
	err = errors.Join(err, w.Close(), z.Close())
	return out.Bytes(), "sha256:" + hex.EncodeToString(sum.Sum(nil)), err
}

func add(w *tar.Writer, root, path string, at time.Time) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	target := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		if target, err = os.Readlink(path); err != nil {
			return err
		}
	}
	h, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return err
	}
	if h.Name, err = filepath.Rel(root, path); err != nil {
		return err
	}
	h.ModTime, h.AccessTime, h.ChangeTime = at, time.Time{}, time.Time{}
	h.Uid, h.Gid, h.Uname, h.Gname, h.Format = 0, 0, "", "", tar.FormatUSTAR
	if h.Name == dataDir || strings.HasPrefix(h.Name, dataDir+"/") {
		h.Uid, h.Gid = user, user
	}
	if info.IsDir() {
		h.Name += "/"
	}
	if err := w.WriteHeader(h); err != nil || !info.Mode().IsRegular() {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return errors.Join(err, f.Close())
}

func archive(files map[string][]byte, at time.Time, out string) error {
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	w := tar.NewWriter(f)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name])), ModTime: at, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(h); err != nil {
			return errors.Join(err, f.Close())
		}
		if _, err := w.Write(files[name]); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return errors.Join(w.Close(), f.Close())
}
