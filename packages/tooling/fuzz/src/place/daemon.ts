/** The daemon under attack: the real binary, with secrets planted where one could come out. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary, type RunningBinary, startBinary, temporaryHome } from "@svc/testkit";
import { MAX_BODY_BYTES } from "../attacks/bodies.ts";
import type { Credentials } from "../attacks/subject.ts";

export interface Victim extends AsyncDisposable {
  readonly daemon: RunningBinary;
  readonly place: { readonly host: string; readonly port: number };
  /** Of the attacker. */
  readonly credentials: Credentials;
  /** Of the client that does nothing wrong. */
  readonly bystander: string;
  readonly secrets: readonly string[];
  readonly trusting: boolean;
}

export interface VictimOptions {
  /** Believe X-Forwarded-For: every request can come from a client of its own. */
  readonly trusting: boolean;
  readonly binary?: string;
}

export async function startVictim({ trusting, binary }: VictimOptions): Promise<Victim> {
  const home = temporaryHome();
  const planted = { webhook: plant(), apiKey: plant() };
  writeFileSync(join(home.path, "config.toml"), configOf(trusting, planted), { mode: 0o600 });
  const chosen = binary === undefined ? {} : { binary };
  try {
    const daemon = await startBinary({ home: home.path, ...chosen });
    const token = await daemon.pair();
    const issued = await runBinary(["pair", "--scope", "webhook", "--json"], { home: home.path, ...chosen });
    const bystander = await daemon.pair((JSON.parse(issued.stdout) as { code: string }).code);
    const { hostname: host, port } = new URL(daemon.url);
    return {
      daemon,
      place: { host, port: Number(port) },
      credentials: { token, webhookSecret: planted.webhook },
      bystander,
      secrets: [planted.webhook, planted.apiKey, token, bystander],
      trusting,
      [Symbol.asyncDispose]: async () => {
        await daemon.close();
        home.remove();
      },
    };
  } catch (error) {
    home.remove();
    throw error;
  }
}

const plant = (): string => `planted-${randomBytes(12).toString("hex")}`;

function configOf(
  trusting: boolean,
  { webhook, apiKey }: { readonly webhook: string; readonly apiKey: string },
): string {
  return `
[gateway]
max_body_bytes = ${MAX_BODY_BYTES}
trust_forwarded_headers = ${trusting}
webhook_rate_limit_per_minute = ${trusting ? 0 : 60}

[channels_config.webhook]
secret = "${webhook}"

[model]
api_key = "${apiKey}"

[secrets]
encrypt = false
`;
}
