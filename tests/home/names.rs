//! What a command line says of the server that it starts: its name, and the well-known package that it surely runs.

use std::ffi::OsString;

use mcp_approve::home::name::{self, is_name, of_command};

#[test]
fn names() {
    for (command, name) in [
        ("npx -y @modelcontextprotocol/server-filesystem /tmp", "filesystem"),
        ("npx @modelcontextprotocol/server-everything@2026.1.1 stdio", "everything"),
        ("/usr/local/bin/npx --yes --package @a/b mcp-github", "github"),
        ("npx -p=@a/b -y some-server", "some"),
        ("npm exec -- @scope/mcp-server-brave", "brave"),
        ("pnpm dlx @upstash/context7-mcp@latest", "context7"),
        ("bunx mcp-server-time", "time"),
        ("bun x @a/notes", "notes"),
        ("bun run ./src/server.ts", "server"),
        ("deno run -A npm:@scope/mcp-weather@1.2", "weather"),
        ("uvx mcp-server-git --repository /r", "git"),
        ("uvx mcp-server-sqlite==0.6.2 --db-path x.db", "sqlite"),
        ("uvx --from git+https://github.com/o/serena serena start-mcp-server", "serena"),
        ("uvx git+https://github.com/o/serena.git@v1", "serena"),
        ("uvx 'fetch[extra]>=1'", "fetch"),
        ("uv run --directory /srv mcp-server-fetch", "fetch"),
        ("uv run python -m mcp_server_time", "time"),
        ("uv tool run mcp-atlassian", "atlassian"),
        ("pipx run mcp-server-time", "time"),
        ("pipx run --spec mcp-server-time==1.0 mcp-time", "time"),
        ("python -m mcp_server_git", "git"),
        ("python3.12 -u -X utf8 -m mcp_server_fetch", "fetch"),
        ("python ./servers/weather_server.py --port 1", "weather"),
        ("python -c pass", "pass"),
        ("node path/to/x.js", "x"),
        ("node --require ts-node/register /opt/servers/github/dist/index.js", "github"),
        ("node ./index.js", "index"),
        ("tsx src/mcp.ts", "mcp"),
        ("docker run -i --rm -e TOKEN -v /a:/b mcp/filesystem", "filesystem"),
        ("docker run -it --rm --env=A=b ghcr.io/github/github-mcp-server:v1 stdio", "github"),
        ("docker run --rm -i --pull always reg.example:5000/team/mcp-notes@sha256:abcd", "notes"),
        ("podman container run --init x/y", "y"),
        ("java -Xmx1g -jar /opt/jenkins-mcp.jar", "jenkins"),
        ("env A=b npx -y @a/mcp-jira", "jira"),
        ("bash ./start.sh", "start"),
        ("sh -c 'exec thing'", "sh"),
        ("/usr/bin/github-mcp-server stdio", "github"),
        ("C:\\tools\\Notes.exe", "Notes"),
        ("mcp-server", "mcp-server"),
        ("server.py", "server"),
        ("my.tool", "my.tool"),
        ("./server\u{202e}evil", "evil"),
        ("npx -y mcp-remote@0.15.1 https://mcp.linear.app/mcp --header A:${B}", "linear"),
        ("npx mcp-remote https://docs.mcp.cloudflare.com/sse", "docs.cloudflare"),
        ("npx mcp-remote http://127.0.0.1:3000/mcp", "127.0.0.1-3000"),
        ("npx mcp-remote http://[::1]:3000/mcp", "1-3000"),
        ("npx mcp-remote https://api.mcp/", "api"),
        ("npx mcp-remote https://---/", "remote"),
        ("npx mcp-remote", "remote"),
        ("npx", "npx"),
        ("npx -y", "npx"),
        ("mcp-approve demo-server", "approve"),
        ("Ünïcode", "n-code"),
        ("日本", "server"),
    ] {
        let words: Vec<OsString> = split(command).into_iter().map(OsString::from).collect();
        let found = of_command(&words);
        assert_eq!(found, name, "{command}");
        assert!(is_name(&found), "{command}");
    }
    assert_eq!(of_command(&[]), "server");
}

/// Splits at spaces, except in single quotes.
fn split(command: &str) -> Vec<String> {
    let pieces = command.split('\'').enumerate();
    pieces
        .flat_map(|(at, piece)| match at % 2 {
            0 => piece.split_whitespace().map(str::to_owned).collect(),
            _ => vec![piece.to_owned()],
        })
        .collect()
}

#[test]
fn every_name_is_plain() {
    for c in (0..0x0011_0000).step_by(97).filter_map(char::from_u32) {
        let name = of_command(&[OsString::from(format!("{c}x{c}"))]);
        assert!(is_name(&name), "{c:?} gives {name:?}");
    }
    let long = OsString::from("a".repeat(500));
    assert!(is_name(&of_command(&[long])));
}

/// The package that a command line surely runs.
fn package(command: &str) -> Option<String> {
    let words: Vec<OsString> = command.split_whitespace().map(OsString::from).collect();
    name::launch("s", &words).package
}

#[test]
fn packages() {
    for (command, found) in [
        ("npx -y @modelcontextprotocol/server-filesystem /tmp", Some("npm:@modelcontextprotocol/server-filesystem")),
        ("npx @modelcontextprotocol/server-memory@2026.1.1", Some("npm:@modelcontextprotocol/server-memory")),
        ("/usr/bin/npx --yes tavily-mcp@latest", Some("npm:tavily-mcp")),
        ("bunx mcp-ripgrep", Some("npm:mcp-ripgrep")),
        ("pnpm dlx mcp-ripgrep", Some("npm:mcp-ripgrep")),
        ("uvx mcp-server-git --repository /r", Some("pypi:mcp-server-git")),
        ("uvx Mcp_Server.Git==1.0", Some("pypi:mcp-server-git")),
        ("uv tool run mcp-server-git@latest", Some("pypi:mcp-server-git")),
        ("pipx run mcp-server-time", Some("pypi:mcp-server-time")),
        ("npx --registry http://x @modelcontextprotocol/server-memory", None),
        ("npx -p evil server-memory", None),
        ("npx ./server-memory", None),
        ("npx github:a/server-memory", None),
        ("npx server-memory@npm:evil", None),
        ("npx @modelcontextprotocol/server-memory@file:evil", None),
        ("uvx --from evil mcp-server-git", None),
        ("uvx --index-url http://x mcp-server-git", None),
        ("uvx git+https://x/mcp-server-git", None),
        ("uvx mcp-server-git@https://x", None),
        ("npm exec -y -- mcp-ripgrep", Some("npm:mcp-ripgrep")),
        ("npm exec --package evil -- mcp-ripgrep", None),
        ("deno run -A --allow-net=x npm:@scope/mcp-weather@1.2 --verbose", Some("npm:@scope/mcp-weather")),
        ("deno run --import-map=x npm:mcp-ripgrep", None),
        ("deno run -A https://x/mcp-ripgrep", None),
        (
            "node /srv/node_modules/@modelcontextprotocol/server-memory/dist/index.js x",
            Some("npm:@modelcontextprotocol/server-memory"),
        ),
        ("node node_modules/tavily-mcp/build/index.js", Some("npm:tavily-mcp")),
        ("node a/node_modules/evil/node_modules/tavily-mcp/index.js", Some("npm:tavily-mcp")),
        ("node a/node_modules/tavily-mcp/node_modules/evil/index.js", Some("npm:evil")),
        ("node node_modules/tavily-mcp/../evil/index.js", None),
        ("node my_node_modules/tavily-mcp/index.js", None),
        ("node node_modules/tavily-mcp", None),
        ("node --require ./evil.js node_modules/tavily-mcp/index.js", None),
        ("node mcp-server-git", None),
        ("python -m mcp_server_git", Some("pypi:mcp-server-git")),
        ("/usr/bin/python3.12 -u -m mcp_server_git --repository /r", Some("pypi:mcp-server-git")),
        ("python -m mcp_server_git.evil", None),
        ("python -X importtime -m mcp_server_git", None),
        ("python mcp_server_git", None),
        ("docker run -i --rm mcp/filesystem /projects", Some("npm:@modelcontextprotocol/server-filesystem")),
        ("npx", None),
        ("npx -y", None),
    ] {
        assert_eq!(package(command).as_deref(), found, "{command}");
    }
}

#[test]
fn images() {
    let (files, git) = (Some("npm:@modelcontextprotocol/server-filesystem"), Some("pypi:mcp-server-git"));
    for (command, found) in [
        ("-i --rm mcp/filesystem /projects", files),
        ("-i --rm --mount type=bind,src=/home/a,dst=/projects/a mcp/filesystem:latest /projects", files),
        ("-it --rm -v /home/a:/projects:ro -e A=b docker.io/mcp/filesystem@sha256:abc /projects", files),
        ("--rm -i --name git --env TOKEN -v=/r:/repo mcp/git", git),
        ("-i --rm evil.example/mcp/filesystem", None),
        ("-i --rm localhost:5000/mcp/filesystem", None),
        ("-i --rm evil/filesystem", None),
        ("-i --rm --entrypoint sh mcp/filesystem -c evil", None),
        ("-i --rm -v /evil:/app mcp/filesystem", None),
        ("-i --rm -v /evil:/projects/../app mcp/filesystem", None),
        ("-i --rm -v /app mcp/filesystem", None),
        ("-i --rm --mount type=bind,src=/e,dst=/projects,target=/app mcp/filesystem", None),
        ("-i --rm -e NODE_OPTIONS=--require=/projects/evil.js mcp/filesystem", None),
        ("-i --rm -e ld_preload=x mcp/filesystem", None),
        ("-i --rm --env-file evil mcp/filesystem", None),
        ("-i --rm --platform x mcp/filesystem", None),
        ("-i --rm", None),
        ("-e", None),
        ("", None),
    ] {
        assert_eq!(package(&format!("docker run {command}")).as_deref(), found, "{command}");
    }
}
