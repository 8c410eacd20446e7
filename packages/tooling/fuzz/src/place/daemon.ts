/** The daemon under attack: the real binary, with secrets planted where one could come out. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { WORKCHAT_APP } from "@svc/testkit/platforms/workchat/events";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { MAX_BODY_BYTES } from "../attacks/bodies.ts";
import type { Credentials } from "../attacks/subject.ts";
import { begin, writeProcedures } from "./procedures.ts";

export interface Victim extends AsyncDisposable {
  readonly daemon: RunningBinary;
  readonly place: { readonly host: string; readonly port: number };
  /** Of the attacker. */
  readonly credentials: Credentials;
  /** Of the client that does nothing wrong. */
  readonly bystander: string;
  readonly secrets: readonly string[];
  /** What there is to attack behind a documented path with placeholders, by that path. */
  readonly there: ReadonlyMap<string, string>;
  readonly trusting: boolean;
  /** The build takes callbacks of Lark and Feishu. */
  readonly hasWorkchat: boolean;
}

export interface VictimOptions {
  /** Trust X-Forwarded-For, so that every request can come from a new client. */
  readonly trusting: boolean;
  readonly binary?: string;
}

export async function startVictim({ trusting, binary }: VictimOptions): Promise<Victim> {
  const home = temporaryHome();
  const planted = { webhook: plant(), apiKey: plant(), encryptKey: plant() };
  const chosen = binary === undefined ? {} : { binary };
  const answer = await runBinary(["features", "--json"], { home: home.path, ...chosen });
  const { features } = JSON.parse(answer.stdout) as { features: readonly { id: string; included: boolean }[] };
  const hasWorkchat = features.some(({ id, included }) => id === "channel-workchat" && included);
  const config = configOf(trusting, planted) + (hasWorkchat ? workchatOf(planted.encryptKey) : "");
  writeFileSync(join(home.path, "config.toml"), config, { mode: 0o600 });
  try {
    writeProcedures(home.path);
    const daemon = await startBinary({ home: home.path, ...chosen });
    // A campaign that is interrupted takes its daemon along.
    const end = (): void => void process.kill(daemon.pid, "SIGKILL");
    process.once("exit", end);
    void daemon.exited.then(() => process.off("exit", end));
    const token = await daemon.pair();
    const codeOf = async (scope: string): Promise<string> => {
      const issued = await runBinary(["pair", "--scope", scope, "--json"], { home: home.path, ...chosen });
      return (JSON.parse(issued.stdout) as { code: string }).code;
    };
    const bystander = await daemon.pair(await codeOf("webhook"));
    const { hostname: host, port } = new URL(daemon.url);
    const page = await signIn(daemon, await codeOf("operator"));
    return {
      daemon,
      place: { host, port: Number(port) },
      credentials: { token, webhookSecret: planted.webhook, page },
      bystander,
      secrets: [...Object.values(planted), token, bystander, page.csrf, page.cookie],
      there: await begin(daemon, token),
      trusting,
      hasWorkchat,
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

/** A separate device: repeated sign-ins with the attacker's token end only the attacker's own sign-ins. */
async function signIn(daemon: RunningBinary, code: string): Promise<Credentials["page"]> {
  const headers = { origin: daemon.url, "x-pairing-code": code };
  const answer = await daemon.request("/api/session", { method: "POST", headers });
  const { csrf } = (await answer.json()) as { csrf: string };
  return { cookie: (answer.headers.get("set-cookie") ?? "").split(";")[0]!, csrf };
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

/** One section that takes any callback, and one that takes signed ones alone; their platforms can't be reached. */
const workchatOf = (encryptKey: string): string => `
[channels_config.workchat]
app_id = "${WORKCHAT_APP.appId}"
app_secret = "app-secret-of-the-campaign"
receive_mode = "webhook"
allowed_users = ["*"]
mention_only = false
api_url = "http://127.0.0.1:9"

[channels_config.workchat_cn]
app_id = "${WORKCHAT_APP.appId}"
app_secret = "app-secret-of-the-campaign"
receive_mode = "webhook"
encrypt_key = "${encryptKey}"
allowed_users = ["*"]
api_url = "http://127.0.0.1:9"
`;
