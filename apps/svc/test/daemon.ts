/** Shared by the whole-binary tests: a home with the config a test needs. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RunningBinary, startBinary, type StartOptions } from "@svc/testkit/binary/start-binary";
import { temporaryHome, type TemporaryHome } from "@svc/testkit/temporary-home";

/** Everything runs unasked and unconfined: for tests of what happens around acting tools. */
export const UNGUARDED = `
[security.policy]
autonomy = "full"
allowed_commands = ["*"]

[security.sandbox]
backend = "none"
`;

export function homeWith(toml: string): TemporaryHome {
  const home = temporaryHome();
  writeFileSync(join(home.path, "config.toml"), toml, { mode: 0o600 });
  return home;
}

export interface Paired {
  readonly daemon: RunningBinary;
  readonly token: string;
}

export async function startPaired(options: StartOptions = {}): Promise<Paired> {
  const daemon = await startBinary(options);
  return { daemon, token: await daemon.pair() };
}

/** Posts a message; resolves with status and parsed body. */
export async function post(
  daemon: RunningBinary,
  token: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; body: Answer }> {
  const response = await daemon.request("/webhook", { token, headers, body: { message } });
  return { status: response.status, body: (await response.json()) as Answer };
}

export interface Answer {
  readonly response: string;
  readonly model: string;
  readonly session_id: string;
  readonly status?: string;
  readonly code?: string;
  readonly error?: string;
}

/** The part of a config that makes this server the one that answers. */
export const localModel = ({ url }: { readonly url: string }): string => `[model]
provider = "openai-compatible"
name = "local"
base_url = "${url}"`;
