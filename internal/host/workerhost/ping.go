package workerhost

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
)

const pingRequest = "GET / HTTP/1.1\r\nHost: ping\r\nConnection: close\r\n\r\n"

// ping asks for the (empty) directory behind the socket and waits for any
// answer. Written by hand, since it runs every other second in every host.
func ping(ctx context.Context, socket string) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf("pinging workerd: %w", err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if _, err := conn.Write([]byte(pingRequest)); err != nil {
		return fmt.Errorf("pinging workerd: %w", err)
	}
	status, err := bufio.NewReaderSize(conn, 256).ReadString('\n')
	if err != nil {
		return fmt.Errorf("pinging workerd: %w", err)
	}
	if !strings.HasPrefix(status, "HTTP/1.1 ") {
		return fmt.Errorf("pinging workerd: it answered %q", status)
	}
	return nil
}
