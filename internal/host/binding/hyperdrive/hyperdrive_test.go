package hyperdrive_test

import (
	"bufio"
	"encoding/json"
	"net"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/hyperdrive"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

var good = bundle.Binding{Name: "B", Kind: "hyperdrive", Resource: "a1"}

func TestKind(t *testing.T) {
	t.Parallel()
	db := svc.ForeignDatabase{ID: "a1", Scheme: "postgresql", Address: "127.0.0.1:1", User: "u", Password: "p", Database: "shop"}
	bindingtest.Run(t, hyperdrive.Kind{Databases: []svc.ForeignDatabase{db}}, bindingtest.Suite{
		Good: good, Other: bundle.Binding{Name: "B", Kind: "hyperdrive", Resource: "b2"},
		Bad: map[string]bundle.Binding{
			"no id":    {Name: "B", Kind: "hyperdrive"},
			"a config": {Name: "B", Kind: "hyperdrive", Resource: "a1", Config: json.RawMessage(`{}`)},
		},
		Shape: `const { user, password, database, port, host, connectionString } = B;
			if (user !== "u" || password !== "p" || database !== "shop" || port !== 5432) throw new Error([user, database, port]);
			if (!connectionString.startsWith("postgresql://u:p@" + host + ":5432/shop")) throw new Error(connectionString);`,
	})
}

// TestConnect: a worker reaches the database by its host, and no other port of it.
func TestConnect(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			line, _ := bufio.NewReader(conn).ReadString('\n')
			_, _ = conn.Write([]byte("you said " + line))
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-served })
	db := svc.ForeignDatabase{ID: "a1", Scheme: "postgresql", Address: l.Addr().String(), User: "u", Password: "p", Database: "shop"}
	set := bindingtest.OpenSet(t, nil, []binding.Kind{hyperdrive.Kind{Databases: []svc.ForeignDatabase{db}}}, good)
	w := bindingtest.Start(t, set, `import { connect } from "cloudflare:sockets";
		const talk = async (socket) => {
			const writer = socket.writable.getWriter();
			await writer.write(new TextEncoder().encode("hello\n"));
			return (await new Response(socket.readable).text()).trim();
		};
		export default { async fetch(request, { B }) {
			return Response.json([await talk(connect({ hostname: B.host, port: B.port })), await talk(B.connect())]);
		} };`)
	if got := w.Post(t, "/", ""); got != `["you said hello","you said hello"]` {
		t.Error(got)
	}
}

// TestUnknown: an id that the operator did not allow is a warning, and an error when it is used.
func TestUnknown(t *testing.T) {
	t.Parallel()
	set := bindingtest.OpenSet(t, nil, []binding.Kind{hyperdrive.Kind{}}, good)
	const want = `binding B: SVC_HYPERDRIVE of the server has no database with the id "a1"`
	if got := set.Warnings(); len(got) != 1 || !strings.HasPrefix(got[0], want) {
		t.Errorf("%q", got)
	}
	w := bindingtest.Start(t, set, `export default { fetch(request, { B }) { try { return new Response(B.connectionString); } catch (e) { return new Response(e.message); } } };`)
	if got := w.Post(t, "/", ""); got != want {
		t.Error(got)
	}
}
