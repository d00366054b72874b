package workerhost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"unicode/utf8"

	"github.com/gofrs/flock"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/cache"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/site"
	"github.com/svcctl/svcctl/internal/svc"
)

// cacheDir is the directory of the Cache API's responses below the version's data. It is
// removed with the data when the version is archived or destroyed.
const cacheDir = "responses"

// version is an open version: its manifest, its data and its log.
type version struct {
	spec      svc.RuntimeSpec
	manifest  bundle.Manifest
	env       []workerd.Binding
	log       *logbook
	lock      *flock.Flock
	resources Resources
	server    *bindingServer
	data      *dataServer
	port      *ownPort                  // nil before Serve
	network   *workerd.Network          // set by render
	door      bool                      // the worker can be sent events
	held      bool                      // alarms wait when workerd starts; set by render
	site      atomic.Pointer[site.Site] // nil without assets
	generated string                    // text of the entry module of assets without a worker
}

// prepare opens what v has beside its data.
func (v *version) prepare(ctx context.Context, o Options) (err error) {
	if v.manifest, err = bundle.Load(v.spec.Local.BundleDir); err != nil {
		return err
	}
	if err = v.openSite(); err != nil {
		return err
	}
	if err = workerd.CheckCompat(v.manifest.CompatibilityDate, v.manifest.CompatibilityFlags); err != nil {
		return err
	}
	if err = v.checkLimits(); err != nil {
		return err
	}
	v.limitGroup(o.Logger)
	if v.env, err = variables(&v.manifest, v.spec); err != nil {
		return err
	}
	if v.log, err = openLog(v.spec.Local.LogDir, v.spec.Values(), o.Logger); err != nil {
		return err
	}
	v.lock, err = lockDir(ctx, v.spec.Local.DataDir)
	return err
}

// openData opens the data after prepare. spec is that of prepare, but for where the data begins.
func (v *version) openData(ctx context.Context, o Options, spec svc.RuntimeSpec, lost func(error)) (err error) {
	v.spec = spec
	if v.resources, err = o.Open(ctx, v.spec, &v.manifest, lost); err != nil {
		return err
	}
	v.data = newDataServer(ctx, v.resources, o.Logger)
	responses := cache.New(cache.Config{Dir: filepath.Join(v.spec.Local.DataDir, cacheDir), Bytes: v.spec.Host.CacheBytes, Logger: o.Logger})
	v.server, err = serveBindings(ctx, filepath.Join(v.spec.Local.RunDir, bindingSocket), besideSite(&v.site, responses.Beside(v.resources)), o.Logger)
	return err
}

// close gives everything back, in reverse.
func (v *version) close() error {
	var errs []error
	if v.port != nil {
		errs = append(errs, v.port.close())
	}
	if v.data != nil {
		errs = append(errs, v.data.Close())
	}
	if v.server != nil {
		errs = append(errs, v.server.Close())
	}
	if v.resources != nil {
		errs = append(errs, v.resources.Close())
	}
	if v.lock != nil {
		errs = append(errs, v.lock.Close())
	}
	if v.log != nil {
		errs = append(errs, v.log.Close())
	}
	return errors.Join(errs...)
}

// render is the config of the version's workerd, as text unless it is isolated. held has alarms wait.
func (v *version) render(held bool) ([]byte, error) {
	v.held = held
	config, err := v.compose(v.resources.Wire(v.bindingSite()), v.resources.CallsWorker())
	if err != nil {
		return nil, err
	}
	if v.isolated() { // it cannot read the bundle
		return workerd.Encode(config)
	}
	return workerd.Render(config)
}

// encode is the same config as a message, of a version without Durable Objects whose data is
// not open yet.
func (v *version) encode(o Options) ([]byte, error) {
	wirings, calls, err := o.Plan(v.spec, &v.manifest, v.bindingSite())
	if err != nil {
		return nil, err
	}
	config, err := v.compose(wirings, calls)
	if err != nil {
		return nil, err
	}
	return workerd.Encode(config)
}

func (v *version) bindingSite() binding.Site {
	return binding.Site{
		Ref: v.spec.Ref, CreatedAt: v.spec.CreatedAt, Tag: v.spec.Tag,
		Address: "unix:" + filepath.Join(v.spec.Local.RunDir, bindingSocket), Worker: workerName, Env: v.spec.Values(), RunDir: v.spec.Local.RunDir, ObjectKeys: v.spec.ObjectKeys, Traced: v.spec.Host.Traces,
	}
}

// compose is the config of the version's workerd. calls reports whether a binding calls the
// worker.
func (v *version) compose(wirings []binding.Wiring, calls bool) (c workerd.Config, err error) {
	ping := filepath.Join(v.spec.Local.RunDir, pingDir)
	if err := v.makePingDir(ping); err != nil {
		return c, err
	}
	main, err := v.mainModule()
	if err != nil {
		return c, err
	}
	own, err := ownAddresses()
	if err != nil {
		return c, err
	}
	if v.door = calls; !v.door && v.generated == "" {
		if v.door, err = v.mentions("scheduled"); err != nil {
			return c, err
		}
	}
	v.network = outbound(own, v.spec.Host.Network)
	return Compose(Composition{
		Objects:  v.objectsPath(),
		Network:  v.network,
		Manifest: &v.manifest, BundleDir: v.spec.Local.BundleDir, Main: main, Env: v.env, HeapMB: v.spec.Host.HeapMB, MemoryMB: v.memoryMB(), Subrequests: v.subrequests(), RunDir: v.spec.Local.RunDir, Door: v.door,
		Wirings: wirings, Site: v.bindingSite(), Held: v.held, Namespace: v.spec.ObjectNamespace,
	}), nil
}

// objectsDir is the directory for Durable Objects; "" for none.
func (v *version) objectsDir() string {
	if v.resources == nil { // not open yet
		return ""
	}
	if o := v.resources.Objects(); o != nil {
		return o.Dir()
	}
	return ""
}

// mainModule is the text of the entry point with the hook that brings unhandled
// rejections to the log; "" when the file is not text, which workerd judges.
func (v *version) mainModule() (string, error) {
	if v.generated != "" {
		return v.generated, nil
	}
	path := filepath.Join(v.spec.Local.BundleDir, filepath.FromSlash(bundle.ModulePath(v.manifest.Main)))
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading the entry module: %w", err)
	}
	if !utf8.Valid(text) {
		return "", nil
	}
	return string(text) + workerd.RejectionHook, nil
}

// mentions reports whether a module of the worker has the word in it: one without
// the name of a handler cannot have the handler.
func (v *version) mentions(word string) (bool, error) {
	for _, m := range v.manifest.Modules {
		if m.Type != bundle.ESModule && m.Type != bundle.CommonJS && m.Type != bundle.Script {
			continue
		}
		text, err := os.ReadFile(filepath.Join(v.spec.Local.BundleDir, filepath.FromSlash(bundle.ModulePath(m.Name))))
		if err != nil {
			return false, fmt.Errorf("reading a module: %w", err)
		}
		if bytes.Contains(text, []byte(word)) {
			return true, nil
		}
	}
	return false, nil
}
