// Package clitest runs scripts (txtar files, see testscript) against the real
// commands: the test binary is executed again as the command, workerd is real,
// and a script may run a daemon of its own. What a script has beside the
// commands of testscript:
//
//	await                                  wait until the daemon that was started with & serves;
//	                                       $API, $GATEWAY and $SERVE_PID tell where
//	exits CODE COMMAND ARGS...             run a command and expect an exit code
//	interrupt PATTERN CODE COMMAND ARGS... as exits; the command gets a SIGINT once its stderr matches
//	until REGEXP COMMAND ARGS...           run a command again and again until its stdout matches
//	json FILE [PATH VALUE]...              expect FILE (or stdout) to be one JSON document with these values, or
//	                                       stderr to end with one; a PATH is keys and indexes: items.0.id
//	jsonenv NAME FILE PATH                 put a value of a JSON document into $NAME
//	ask URL [NAME:VALUE...]                send a GET with these headers through the gateway, whatever the host
//	                                       resolves to; stdout is the status, the version that answered, the body
//	action FILE [INPUT=VALUE...]           run the steps of an action.yml of the repository, as a runner of GitHub does
//	gitlab FILE JOB                        run a job of a template of the repository, as a runner of GitLab does
//	sqlite FILE SQL                        make a SQLite file
//
// A daemon that runs at the end of its script is interrupted.
package clitest
