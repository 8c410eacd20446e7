// A program of the Agent Client Protocol as a child agent in each sandbox of this machine: it works in its workspace, writes nowhere else,
// reads no secret of svc, reaches no service of this machine, and ends with all that it started.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { bring, perlWords } from "@svc/testkit/conformance/sandbox/perl";
import { makeContainerImage, missingEngine } from "@svc/testkit/real/container-image";
import { requireReal } from "@svc/testkit/require-real";
import { expect, test } from "vitest";
import { homeWith } from "./daemon.ts";

const binary = fullestBinaryPath();

/** Tells what it could do outside, then stays with a process that left its group, its session and its environment. */
const AGENT = `$| = 1;
use Socket;
my ($outside, $port, $name, @perl) = @ARGV;
while (<STDIN>) {
  my ($id) = /"id":("?[^,"}]+"?)/;
  my $result;
  if (/"method":"initialize"/) { $result = '{"protocolVersion":1,"agentCapabilities":{}}' }
  elsif (/"method":"session\\/new"/) { $result = '{"sessionId":"s"}' }
  elsif (/"method":"session\\/prompt"/) {
    my $inside = open(my $made, '>', 'made') ? 'yes' : 'no';
    close $made;
    my $wrote = open(my $escaped, '>', "$outside/escaped") ? 'yes' : 'no';
    my $read = open(my $config, '<', "$outside/config.toml") ? 'yes' : 'no';
    socket(my $socket, PF_INET, SOCK_STREAM, getprotobyname('tcp') || 6);
    my $connected = connect($socket, pack_sockaddr_in($port, inet_aton('127.0.0.1'))) ? 'yes' : 'no';
    if (!fork) {
      close STDIN; close STDOUT; close STDERR;
      setpgrp;
      %ENV = ();
      exit if fork;
      exec @perl, '-e', 'sleep 1000', $name;
    }
    my $told = "inside:$inside wrote:$wrote read:$read connected:$connected";
    print qq({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"$told"}}}}\\n);
    $result = '{"stopReason":"end_turn"}';
  }
  else { next }
  print qq({"jsonrpc":"2.0","id":$id,"result":$result}\\n);
}
sleep 1000;
`;

interface Agent {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
  readonly result: string | null;
}

/** Processes that call themselves so, or were started so, without those that have ended. */
const processesNamed = (name: string): readonly string[] =>
  readdirSync("/proc").filter((pid) => {
    try {
      if (!/^[0-9]+$/.test(pid) || /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))) return false;
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(name);
    } catch {
      return false;
    }
  });

test.for(["userns", "jail", "fsrestrict", "container"] as const)(
  "%s holds a program that is a child agent",
  async (backend, context) => {
    let reached = 0;
    const server = createServer((socket) => {
      reached += 1;
      socket.on("error", () => undefined).destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { readonly port: number };
    const name = `left-by-agent-${process.pid}-${backend}`;
    const missing = backend === "container" ? await missingEngine() : undefined;
    if (missing) return requireReal(context, missing);
    using image = backend === "container" ? makeContainerImage(["podman"]) : undefined;
    const sandbox = `[security.sandbox]\nbackend = "${backend}"\n${image ? `container_image = "${image.name}"\n` : ""}`;
    using home = homeWith(sandbox);
    const workspace = join(home.path, "workspace");
    try {
      let stdout = "";
      // Doctor leaves out what takes too long, as the first container does on a busy machine.
      while (!stdout.includes('"id": "sandbox"')) {
        ({ stdout } = await runBinary(["doctor", "--json"], { home: home.path, binary }));
      }
      if (!stdout.includes(`in the sandbox ${backend}`)) {
        return requireReal(context, { name: backend, reason: "svc doctor finds no such sandbox here", tier: "B" });
      }
      const words = perlWords(workspace);
      const command = JSON.stringify([...words, "agent.pl", home.path, String(port), name, ...words]);
      const config = `${sandbox}\n[agents_pool.programs.attacker]\ncommand = ${command}\n`;
      writeFileSync(join(home.path, "config.toml"), config, { mode: 0o600 });
      await using daemon = await startBinary({ home: home.path, binary });
      const token = await daemon.pair();
      // The daemon has made the workspace, for the user that its commands run as.
      bring(workspace);
      writeFileSync(join(workspace, "agent.pl"), AGENT, { mode: 0o644 });
      const ask = async (path: string, method: string, body?: object): Promise<Agent> =>
        (await (await daemon.request(path, { method, token, ...(body && { body }) })).json()) as Agent;
      const made = await ask("/api/agents", "POST", { program: "attacker", prompt: "attack", wait_secs: 60 });
      expect(made).toMatchObject({
        status: "idle",
        result: "inside:yes wrote:no read:no connected:no",
      });
      expect([existsSync(join(home.path, "escaped")), reached]).toEqual([false, 0]);
      expect(existsSync(join(workspace, "made"))).toBe(true);
      while (processesNamed(name).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
      expect(await ask(`/api/agents/${made.id}`, "DELETE")).toMatchObject({ status: "closed" });
      expect(processesNamed(name)).toEqual([]);
    } finally {
      server.close();
    }
  },
);
