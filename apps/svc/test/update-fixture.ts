/** An installed binary, and releases of it on a server of loopback. */
import { createHash } from "node:crypto";
import { chmodSync, cpSync, linkSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type ReleaseManifest, releaseFileName } from "@svc/kit/releases";
import { makeKeyPair, parseSecretKey, publicLine, signFile } from "@svc/release/signing";
import { SCHEMA_VERSION } from "@svc/store";
import { binaryPath } from "@svc/testkit/binary/spawn-binary";

const pair = makeKeyPair();
const signing = parseSecretKey(pair.secretKey);
export const publicKey = publicLine(signing);
export const target = `${process.platform}-${process.arch}`;

/** Another name for the built binary where the disk allows it: nothing writes into it. */
export function installBinary(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "svc");
  try {
    linkSync(binaryPath(), file);
  } catch {
    cpSync(binaryPath(), file, { preserveTimestamps: true });
  }
  return file;
}

const ENTRY = /version:\s*"(\d+\.\d+\.\d+)",\s*commit:\s*"([0-9a-z-]+)"/;

/**
 * The same program under another version: its entry and its answer to --version name it, and nothing else is changed. V8's code of the
 * entry holds the old version, so the name of that code is changed, too.
 */
export function nextBinary(): { bytes: Buffer; version: string; commit: string; current: string } {
  const bytes = Buffer.from(readFileSync(binaryPath()));
  for (let from = 0; ;) {
    const found = bytes.indexOf("version:", from);
    if (found === -1) throw new Error("the entry names no version");
    const text = bytes.toString("latin1", found, found + 100);
    const match = ENTRY.exec(text);
    if (match?.index === 0 && text.includes("releases")) {
      const [whole, current = "", commit = ""] = match;
      const version = current.replace(/\d$/, (digit) => String((Number(digit) + 1) % 10));
      bytes.write(whole.replace(current, version), found, "latin1");
      replaceIn(bytes, `"svc ${current} (${commit})`, `"svc ${version} (${commit})`);
      // In the index of the chunks.
      replaceIn(bytes, '"code-cache/svc.js"', '"none-cache/svc.js"');
      return { bytes, version, commit, current };
    }
    from = found + 1;
  }
}

function replaceIn(bytes: Buffer, text: string, by: string): void {
  const at = bytes.indexOf(text);
  if (at === -1) throw new Error(`the binary does not hold ${text}`);
  bytes.write(by, at, "latin1");
}

export interface ReleaseOptions {
  readonly version: string;
  readonly commit: string;
  readonly schema?: number;
  readonly profile?: string;
  readonly target?: string;
  /** Default: what the manifest says is what is served. */
  readonly served?: (packed: Buffer) => Buffer;
}

/** The files of a release with one build. */
export function releaseOf(binary: Buffer, options: ReleaseOptions): Map<string, Buffer> {
  const { version, commit, schema = SCHEMA_VERSION, profile = "minimal", target: forTarget = target } = options;
  const packed = gzipSync(binary, { level: 1 });
  const sum = (bytes: Buffer) => ({ bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") });
  const file = releaseFileName(version, profile, forTarget);
  const manifest: ReleaseManifest = {
    format: 1,
    version,
    commit,
    schema_version: schema,
    builds: [{ profile, target: forTarget, file, ...sum(packed), binary: sum(binary) }],
  };
  const text = Buffer.from(JSON.stringify(manifest));
  return new Map([
    ["release.json", text],
    ["release.json.minisig", Buffer.from(signFile(text, signing, `svc ${version}`))],
    [file, options.served?.(packed) ?? packed],
  ]);
}

export interface ReleaseServer extends AsyncDisposable {
  readonly url: string;
  /** By path; what is missing is 404. */
  files: ReadonlyMap<string, Buffer>;
  /** Ends the connection after so many bytes of the build, though the header promised all of them. */
  cutAfter: number | undefined;
}

export async function serveReleases(): Promise<ReleaseServer> {
  const server = createServer((request, response) => {
    const body = state.files.get(request.url?.slice(1) ?? "");
    if (!body) return void response.writeHead(404).end();
    response.writeHead(200, { "content-length": body.length });
    if (state.cutAfter === undefined || !request.url?.endsWith(".gz")) return void response.end(body);
    response.write(body.subarray(0, state.cutAfter), () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const state: ReleaseServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    files: new Map(),
    cutAfter: undefined,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return state;
}

/** What a release's binary is where nothing of it but its answer matters: a second instead of a hundred megabytes. */
export function scriptBinary(about: {
  version: string;
  commit: string;
  target?: string;
  schema_version?: number;
}): Buffer {
  const text = JSON.stringify({ target, schema_version: 13, ...about });
  return Buffer.from(`#!/bin/sh\necho '${text}'\n`);
}

export function writeScript(file: string, text: Buffer): void {
  writeFileSync(file, text);
  chmodSync(file, 0o755);
}
