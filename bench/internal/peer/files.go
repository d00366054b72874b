package peer

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/svcctl/svcctl/bench/internal/proc"
)

// filesConf serves the files of a directory as nginx's own guide advises for speed.
const filesConf = `user root;
worker_processes 2;
daemon off;
pid %[1]s/nginx.pid;
error_log stderr warn;
events { worker_connections 4096; multi_accept on; }
http {
  access_log off;
  server_tokens off;
  sendfile on; tcp_nopush on; tcp_nodelay on;
  open_file_cache max=1000;
  keepalive_requests 100000000;
  client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy;
  fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
  types { text/plain txt; }
  server {
    listen 127.0.0.1:%[2]d;
    location / { root %[3]s; add_header Cache-Control "public, max-age=0, must-revalidate"; }
  }
}
`

// Files starts nginx with the files of a directory, or fails with ErrAbsent.
func (p *Peers) Files(ctx context.Context, files string) (*Running, error) {
	program, err := exec.LookPath("nginx")
	if err != nil {
		return nil, fmt.Errorf("nginx: %w", ErrAbsent)
	}
	dir, err := p.dir("nginx")
	if err != nil {
		return nil, err
	}
	port, err := proc.FreePort(ctx)
	if err != nil {
		return nil, err
	}
	if err := write(dir, "nginx.conf", fmt.Sprintf(filesConf, dir, port, files)); err != nil {
		return nil, err
	}
	return run(ctx, proc.Spec{Args: []string{program, "-p", dir, "-c", dir + "/nginx.conf"}, Dir: dir}, "localhost", port)
}
