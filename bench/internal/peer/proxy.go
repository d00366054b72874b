package peer

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/svcctl/svcctl/bench/internal/load"
	"github.com/svcctl/svcctl/bench/internal/proc"
)

// ErrAbsent is a peer that is not installed.
var ErrAbsent = errors.New("not installed")

// Proxies are the names that Proxy knows.
func Proxies() []string { return []string{"caddy", "nginx"} }

const caddyfile = `{
  auto_https off
  admin off
  log {
    level ERROR
  }
}
http://%[1]s:%[2]d {
  bind 127.0.0.1
  reverse_proxy %[3]s {
    transport http {
      keepalive 60s
      keepalive_idle_conns 512
      keepalive_idle_conns_per_host 512
      compression off
    }
  }
}
`

// As root, nginx would give its workers to a user who may not open the socket.
const nginxConf = `user root;
worker_processes 2;
daemon off;
pid %[4]s/nginx.pid;
error_log stderr warn;
events { worker_connections 32768; multi_accept on; }
http {
  access_log off;
  server_tokens off;
  tcp_nodelay on;
  gzip on; gzip_comp_level 5; gzip_min_length 1024; gzip_proxied any;
  keepalive_requests 100000000;
  keepalive_timeout 300s;
  client_body_temp_path %[4]s/body; proxy_temp_path %[4]s/proxy;
  fastcgi_temp_path %[4]s/f; uwsgi_temp_path %[4]s/u; scgi_temp_path %[4]s/s;
  map $http_upgrade $conn { default upgrade; '' ''; }
  upstream worker { server %[3]s; keepalive 256; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:%[2]d;
    server_name %[1]s;
    location / {
      proxy_pass http://worker;
      proxy_http_version 1.1;
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $conn;
%[5]s    }
  }
}
`

// OurHeaders are those that our gateway adds to a request, as lines for nginx.
const OurHeaders = `      proxy_set_header X-Forwarded-Proto http;
      proxy_set_header X-Forwarded-Host $host;
      proxy_set_header CF-Connecting-IP $remote_addr;
      proxy_set_header X-Request-Id $request_id;
      proxy_set_header traceparent 00-$request_id-0123456789abcdef-00;
      proxy_set_header X-Svc-Proto http;
      proxy_set_header X-Svc-Cf '{"httpProtocol":"HTTP/1.1","requestPriority":"","tlsClientAuth":{"certPresented":"0","certVerified":"NONE","certRevoked":"0","certIssuerDN":"","certSubjectDN":"","certIssuerDNRFC2253":"","certSubjectDNRFC2253":"","certIssuerDNLegacy":"","certSubjectDNLegacy":"","certSerial":"","certIssuerSerial":"","certSKI":"","certIssuerSKI":"","certFingerprintSHA1":"","certFingerprintSHA256":"","certNotBefore":"","certNotAfter":""}}';
`

// Proxy starts a reverse proxy in front of a worker, or fails with ErrAbsent.
func (p *Peers) Proxy(ctx context.Context, kind string, worker load.Target) (*Running, error) {
	return p.ProxyWith(ctx, kind, worker, "")
}

// ProxyWith is Proxy with more headers, for nginx alone: OurHeaders.
func (p *Peers) ProxyWith(ctx context.Context, kind string, worker load.Target, headers string) (*Running, error) {
	if kind != "nginx" && headers != "" {
		return nil, fmt.Errorf("%s: no headers can be set", kind)
	}
	program, err := exec.LookPath(kind)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind, ErrAbsent)
	}
	dir, err := p.dir(kind)
	if err != nil {
		return nil, err
	}
	port, err := proc.FreePort(ctx)
	if err != nil {
		return nil, err
	}
	upstream := worker.Address
	if worker.Network == "unix" {
		upstream = map[string]string{"caddy": "unix/", "nginx": "unix:"}[kind] + worker.Address
	}
	file, text, args := "Caddyfile", caddyfile, []string{program, "run", "--config", "Caddyfile", "--adapter", "caddyfile"}
	if kind == "nginx" {
		file, text, args = "nginx.conf", nginxConf, []string{program, "-p", dir, "-c", dir + "/nginx.conf"}
	}
	if err := write(dir, file, fmt.Sprintf(text, worker.Host, port, upstream, dir, headers)); err != nil {
		return nil, err
	}
	env := []string{"HOME=" + dir, "XDG_DATA_HOME=" + dir, "XDG_CONFIG_HOME=" + dir}
	return run(ctx, proc.Spec{Args: args, Dir: dir, Env: env}, worker.Host, port)
}
