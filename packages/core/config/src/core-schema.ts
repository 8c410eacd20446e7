/** The sections core owns. Every key has a description: `svc config schema` and the reference page are made of them. */
import { type Marks, httpUrl, integer, secret, trimEndOf } from "@svc/contract";
import * as v from "valibot";
import { agent, agentName, count, flag, list, model, namedAgent, policy, price, text } from "./agent-schema.ts";
import { hashedSecret } from "./hashed-secret.ts";

// `[observability]`: who watches.

/** Each backend by the names it goes by. */
const CANONICAL = {
  none: "none",
  noop: "none",
  log: "log",
  metrics: "metrics",
  otel: "otel",
  opentelemetry: "otel",
  otlp: "otel",
} as const;

const observability = v.strictObject({
  backend: v.optional(
    v.pipe(
      v.picklist(["none", "noop", "log", "metrics", "otel", "opentelemetry", "otlp"]),
      v.description(
        "Where observations go: none (none, noop), the log (a line for each turn and delivery), GET /metrics, or an OTLP collector (otel, opentelemetry, otlp).",
      ),
      v.transform((name) => CANONICAL[name]),
    ),
    "log",
  ),
  otel_endpoint: v.optional(
    v.pipe(httpUrl(), v.description("Base URL of the OTLP/HTTP collector; /v1/traces is added.")),
    "http://127.0.0.1:4318",
  ),
  otel_protocol: v.optional(
    v.pipe(
      v.picklist(["http/protobuf", "http/json"]),
      v.description("Encoding of traces; every collector accepts the first."),
    ),
    "http/protobuf",
  ),
  otel_service_name: v.optional(text("Service name in the traces."), "svc"),
  otel_headers: v.optional(
    v.pipe(
      secret(),
      v.check(
        (pairs) => /^\s*$|^[^=,\s]+=[^,\s]*(?:,[^=,\s]+=[^,\s]*)*$/.test(pairs),
        "name=value pairs joined by commas",
      ),
      v.description("Headers for the collector, e.g. authorization=Bearer%20token; values percent-encoded."),
    ),
  ),
  otel_sampling: v.optional(
    v.pipe(v.number(), v.minValue(0), v.maxValue(1), v.description("Share of traces to record, 0 to 1.")),
    1,
  ),
  otel_record_content: flag(false, "Record messages, prompts and tool results in traces, too."),
});

// `[security.sandbox]`: what confines the commands that agents run.

/** Without a default here: one that is written down has to be held, or the backend is not used. */
const limit = (min: number, max: number, description: string) =>
  v.optional(v.pipe(integer(min, max), v.description(description)));

const sandbox = v.strictObject({
  enabled: flag(true, "Confine commands."),
  backend: v.optional(
    v.pipe(
      v.picklist(["auto", "none", "jail", "userns", "fsrestrict", "seatbelt", "container"]),
      v.description("Sandbox backend. auto: the strongest available. none: no confinement."),
    ),
    "auto",
  ),
  required: flag(false, "Refuse to run commands if the configured backend is not available."),
  network: flag(false, "Commands may reach the network."),
  timeout_secs: count(120, 1, 86_400, "Seconds a command may run."),
  memory_mb: limit(16, 1_048_576, "Megabytes of memory for a command and its child processes. Default: 2048."),
  cpu_secs: limit(1, 86_400, "Seconds of processor time of a command. Default: no limit but timeout_secs."),
  pids: limit(2, 1_000_000, "Processes and threads of a command. Default: 256."),
  readable: list("Absolute paths that commands may read, besides the workspace and system libraries."),
  writable: list("Absolute paths that commands may write, besides the workspace."),
  container_image: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}$/, "must be the name of an image"),
      v.description(
        "Image of the container backend. It must exist on this machine; svc never pulls images. Default: debian:stable-slim.",
      ),
    ),
  ),
});

/** `[browser]`: the browser that agents drive. */
const browser = v.strictObject({
  enabled: flag(false, "Give agents a browser."),
  backend: v.optional(
    v.pipe(
      v.picklist(["agent_browser", "native", "computer_use"]),
      v.description(
        "Browser backend: the program agent-browser, svc itself (native), or the service at computer_use_endpoint.",
      ),
    ),
    "agent_browser",
  ),
  allowed_domains: list(
    "Hosts that pages and their resources may load from: example.com, *.example.com with all subdomains, an address, or * for every public host. Empty: none.",
  ),
  native_headless: flag(true, "Run the native browser without a window."),
  chromium_path: v.optional(text("Path of the Chromium to start. Default: the installed one.")),
  agent_browser_path: v.optional(text("Path of agent-browser. Default: found on the PATH.")),
  idle_secs: count(300, 10, 86_400, "Seconds of inactivity after which a conversation's browser is closed."),
  computer_use_endpoint: v.optional(
    v.pipe(httpUrl(), v.description("URL that takes the actions of the backend computer_use.")),
    "http://127.0.0.1:8787/v1/actions",
  ),
  computer_use_api_key: v.optional(v.pipe(secret(), v.description("Bearer key of that service."))),
  computer_use_windows: list("Titles of windows that the agent may act in. Empty: the browser's own."),
});

// `gateway.public_url`: paths are put behind it, it is printed, encoded as a QR code, and handed to platforms and the page.

/** What is written is what every program reads: no other spelling of a host, nothing after the path, nothing a shell or a page acts on. */
const publicUrl = () =>
  v.pipe(
    v.string(),
    v.check(
      isPublicUrl,
      "an http:// or https:// URL without a user name, password, query or fragment, in ASCII; a name of other letters begins with xn--",
    ),
  );

const MAX_CHARS = 2048;
const PLAIN = /^https?:\/\/(?<host>[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::(?<port>\d{1,5}))?(?:\/[\w.~/-]*)?$/i;

function isPublicUrl(text: string): boolean {
  if (text.length > MAX_CHARS || !URL.canParse(text)) return false;
  const { host, port } = PLAIN.exec(text)?.groups ?? {};
  const url = new URL(text);
  // `0x7f.1` is read as an address, `/a/../b` as another path.
  const isAsRead = host?.toLowerCase() === url.hostname && url.href.toLowerCase().startsWith(`${url.origin}/`);
  return isAsRead && Number(port ?? 1) > 0 && !/\/\.{1,2}(?:\/|$)/.test(text.slice("https://".length));
}

/** The socket that listens is kept over a reload, with everybody who is connected to it. */
const AFTER_RESTART = { restart: true } satisfies Marks;

/** Days without a request after which a page is signed out, unless the config says otherwise. */
export const PAGE_SESSION_DAYS = 90;

const gateway = v.strictObject({
  host: v.optional(
    v.pipe(
      v.string(),
      v.description("Address to listen on. Anything but loopback needs allow_public_bind."),
      v.metadata(AFTER_RESTART),
      // As in a URL: [::1] is the address ::1.
      v.transform((host) => /^\[([0-9a-f:.]+)\]$/i.exec(host)?.[1] ?? host),
    ),
    "127.0.0.1",
  ),
  port: v.optional(
    v.pipe(integer(0, 65535), v.description("TCP port; 0 takes a free one."), v.metadata(AFTER_RESTART)),
    42617,
  ),
  allow_public_bind: flag(false, "Allow listening on an address that other machines can reach."),
  public_url: v.optional(v.pipe(publicUrl(), v.description("The HTTPS URL that providers call."))),
  allowed_hosts: list("Host names served besides IP literals, localhost and the host of public_url."),
  require_pairing: flag(true, "POST /webhook requires a bearer token from pairing."),
  require_signatures: flag(false, "Refuse webhooks without a configured secret instead of trusting them."),
  idempotency_ttl_secs: count(
    300,
    1,
    31_536_000,
    "Seconds during which a repeated idempotency key counts as a duplicate.",
  ),
  idempotency_max_keys: v.optional(
    v.pipe(
      integer(0, 10_000_000),
      v.description("Most idempotency keys kept, at least 1; the oldest goes first."),
      v.transform((keys) => Math.max(1, keys)),
    ),
    10_000,
  ),
  webhook_rate_limit_per_minute: count(60, 0, 1_000_000, "Requests per minute and client on /webhook; 0: no limit."),
  rate_limit_max_keys: v.optional(
    v.pipe(
      integer(0, 10_000_000),
      v.description("Most clients tracked by the limiter; the least recent is dropped first. 0: the default."),
      v.transform((keys) => (keys === 0 ? 10_000 : keys)),
    ),
    10_000,
  ),
  trust_forwarded_headers: flag(
    false,
    "Read the client's address from X-Forwarded-For / X-Real-IP of a trusted proxy.",
  ),
  trusted_proxies: v.optional(
    v.pipe(v.array(v.string()), v.description("Peers whose forwarding headers count: addresses or CIDR ranges.")),
    ["127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
  ),
  page_session_days: count(PAGE_SESSION_DAYS, 1, 400, "Days of inactivity after which a page is signed out."),
  max_body_bytes: count(1_048_576, 1024, 1_073_741_824, "Largest request body in bytes."),
});

const spokenReply = () => v.picklist(["never", "voice", "always"]);

const command = (description: string) =>
  v.pipe(v.array(v.pipe(v.string(), v.nonEmpty())), v.nonEmpty(), v.description(description));

export const coreSections = {
  gateway,
  daemon: v.strictObject({
    drain_secs: count(30, 0, 3600, "Seconds that running turns get to finish at shutdown."),
  }),
  log: v.strictObject({
    level: v.optional(
      v.pipe(v.picklist(["debug", "info", "warn", "error"]), v.description("Lowest level to write.")),
      "info",
    ),
    file: flag(true, "Also write the log to the logs folder of the home; svc logs shows it."),
    max_file_mb: count(10, 1, 10_000, "Size in megabytes at which a log file is rotated."),
    max_files: count(5, 1, 1000, "Log files kept, the current one included."),
  }),
  workspace: v.strictObject({
    path: v.optional(text("Working directory of tools, absolute or below the home. Default: workspace.")),
  }),
  model,
  agent,
  agents: v.record(agentName, namedAgent),
  prices: v.record(v.string(), price),
  tools: v.strictObject({ disabled: list("Tools to withhold from the agent.") }),
  approvals: v.strictObject({
    expire_secs: count(86_400, 60, 31_536_000, "Seconds after which an unanswered approval request expires."),
    tool_timeout_secs: count(300, 1, 86_400, "Seconds to wait for an approval before the call is refused."),
  }),
  sop: v.strictObject({
    default_execution_mode: v.optional(
      v.pipe(
        v.picklist(["auto", "supervised", "step_by_step", "priority_based", "deterministic"]),
        v.description("Default execution mode of procedures."),
      ),
      "supervised",
    ),
    max_concurrent_total: count(4, 1, 1_000_000, "Runs of procedures at the same time, waiting ones included."),
  }),
  secrets: v.strictObject({
    encrypt: flag(true, "Encrypt the secrets of this file with the key file of the home."),
  }),
  retention: v.strictObject({
    session_days: count(90, 0, 36_500, "Days after its last turn until a conversation is deleted; 0: never."),
    max_sessions: count(10_000, 0, 10_000_000, "Most conversations kept, the most recent first; 0 keeps all."),
    tool_call_days: count(30, 1, 36_500, "Days to keep the journal of tool calls."),
    message_days: count(30, 1, 36_500, "Days to keep answered channel messages and their files."),
  }),
  delivery: v.strictObject({
    max_attempts: count(
      12,
      1,
      1000,
      "Attempts to send a message before it becomes a dead letter, and to answer one while the model is down.",
    ),
  }),
  transcription: v.strictObject({
    enabled: flag(false, "Transcribe recordings that people send."),
    provider: v.optional(
      v.pipe(
        v.picklist(["openai", "openai-compatible", "command"]),
        v.description("Transcription provider: OpenAI, an OpenAI-compatible service, or a program on this machine."),
      ),
      "openai",
    ),
    command: v.optional(
      command(
        "Program and arguments for provider = command, started without a shell. {file} is the recording, {wav} the same as 16 kHz WAV. It writes the text.",
      ),
    ),
    base_url: v.optional(
      v.pipe(
        httpUrl(),
        v.description("Base URL of a service with OpenAI's /audio/transcriptions."),
        v.transform((url) => trimEndOf(url, "/")),
      ),
      "https://api.openai.com/v1",
    ),
    api_key: v.optional(v.pipe(secret(), v.description("Bearer key of that service."))),
    model: v.optional(text("Transcription model."), "whisper-1"),
    language: v.optional(text("ISO 639-1 code of the spoken language. Default: the service detects it.")),
    max_bytes: count(26_214_400, 1024, 1_073_741_824, "Largest recording sent to it, in bytes."),
  }),
  tts: v.strictObject({
    enabled: flag(false, "Speak answers: on phone calls, and in chats as set by reply."),
    provider: v.optional(
      v.pipe(
        v.picklist(["openai", "openai-compatible", "command"]),
        v.description("Speech provider: OpenAI, an OpenAI-compatible service, or a program on this machine."),
      ),
      "openai",
    ),
    command: v.optional(
      command(
        "Program and arguments for provider = command, started without a shell. It reads the text from standard input or from {text}, and writes WAV, Ogg or MP3.",
      ),
    ),
    play: flag(false, "Speak answers to microphone commands on this machine's loudspeaker."),
    reply: v.optional(
      v.pipe(spokenReply(), v.description("Which answers in chats are also spoken. voice: answers to voice messages.")),
      "never",
    ),
    reply_in: v.optional(
      v.pipe(v.record(v.string(), spokenReply()), v.description('The same per channel, by its id: email = "always".')),
      {},
    ),
    base_url: v.optional(
      v.pipe(
        httpUrl(),
        v.description("Base URL of a service with OpenAI's /audio/speech."),
        v.transform((url) => trimEndOf(url, "/")),
      ),
      "https://api.openai.com/v1",
    ),
    api_key: v.optional(v.pipe(secret(), v.description("Bearer key of that service."))),
    model: v.optional(text("Speech model."), "tts-1"),
    voice: v.optional(text("Voice, as that service names it."), "alloy"),
    max_chars: count(4096, 16, 1_000_000, "Longest text sent to it, in characters; longer text is cut at a sentence."),
  }),
  browser,
  observability,
  "security.policy": policy,
  "security.sandbox": sandbox,
  "security.net": v.strictObject({
    allow_private: list("host:port pairs on private addresses that outgoing requests may reach."),
  }),
  "channels_config.webhook": v.strictObject({
    secret: v.optional(
      v.pipe(
        secret({ generate: true, hashed: true }),
        v.description("Secret that callers of POST /webhook send as X-Webhook-Secret."),
        v.transform(hashedSecret),
      ),
    ),
    signing_secret: v.optional(
      v.pipe(secret(), v.description("Key of the Standard Webhooks signature that POST /webhook requires.")),
    ),
    agent: v.optional(text("Name of the agent that answers. Default: the default agent.")),
  }),
} as const;

export type CoreSections = typeof coreSections;
/** Validated values of core's sections, defaults filled in, by dotted section name. */
export type CoreConfig = { readonly [Name in keyof CoreSections]: v.InferOutput<CoreSections[Name]> };
