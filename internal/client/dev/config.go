package dev

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/client/build"
	"github.com/svcctl/svcctl/internal/client/front"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// Config configures a session of watch mode.
type Config struct {
	Builds     []build.Request   // one for each worker; requests for other hosts go to the first
	Vars       map[string]string // variables, over those of the files
	Port       int               // of the stable address; 0 chooses a free one
	AnyPort    bool              // choose another port if Port is in use
	Parent     string            // version whose data the first version begins with; "" for that of the last session
	Fresh      bool              // the first version begins without data
	LiveReload bool
	Remote     string // host of a shared server; "" for one that Start starts
	Start      func(context.Context, Place) (*Server, error)

	Inspect      bool // debuggers can attach, if the versions let them
	InspectAt    int  // port for debuggers; 0 chooses a free one
	AnyInspectAt bool // choose another port if InspectAt is in use

	In     io.Reader                                   // keys, if it is a terminal
	Open   func(ctx context.Context, url string) error // opens a browser
	Out    io.Writer                                   // lines for people
	Color  bool
	Logger *slog.Logger
}

// Place is what a server is started for.
type Place struct {
	Dir     string // .svcctl in the worker directory
	Project string
	Address string // the stable address, "http://localhost:8787"
}

// Server is what the versions are made on.
type Server struct {
	Client *client.Client
	// Target returns how requests reach a version.
	Target func(api.Version) front.Target
	// ShowFiles has a version that serves show the static files of another one, without a
	// restart; nil if the server cannot.
	ShowFiles func(ctx context.Context, in, of api.Version) error
	// Inspector returns the address of a version's inspector; "" for none, nil if no
	// version has one.
	Inspector func(api.Version) string
	// Named reports whether a request names a version by its host; nil if none can.
	Named func(*http.Request) bool
	// Own is true for a server that this session alone uses: the newest version
	// becomes production, and variables are in bundles. On a shared server they are
	// overrides of the version, which the server keeps as secrets.
	Own bool
	// Bundles is true for a server that reads the bundles of the saves where they are kept,
	// in BundlesDir. The bundles for another one are uploaded.
	Bundles bool
	User    string        // names the versions on a shared server
	Pace    time.Duration // between two looks at a deploy
	// Failed receives the permanent failure of the server; it may be nil.
	Failed <-chan error
	// Stop ends the server.
	Stop func(context.Context) error
}
