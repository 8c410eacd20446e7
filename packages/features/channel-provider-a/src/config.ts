/**
 * The section. Both modes share it: `phone_number_id` selects Cloud mode, which is this feature; `session_path` alone
 * selects Web mode, which is `provider-a-web`'s.
 */
import { allowlist, apiUrl, channelKeys, type Marks, secret } from "@svc/contract";
import * as v from "valibot";

const keys = v.strictObject({
  access_token: v.optional(
    v.pipe(secret({ ask: true }), v.description("Access token of the Cloud API. Cloud mode needs it.")),
  ),
  phone_number_id: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[A-Za-z0-9_-]{1,64}$/, "the phone number's id, which is not the phone number"),
      v.metadata({ ask: true } satisfies Marks),
      v.description("Id of the business phone number. Setting it selects Cloud mode."),
    ),
  ),
  verify_token: v.optional(
    v.pipe(
      secret({ generate: true }),
      v.description("Verify token of the callback URL; enter the same on the platform. Required in Cloud mode."),
    ),
  ),
  app_secret: v.optional(
    v.pipe(
      secret({ env: "SVC_PROVIDER_A_APP_SECRET", envMode: "override", ask: true }),
      v.description("App secret with which the platform signs deliveries. Without it, anyone can forge them."),
    ),
  ),
  allowed_numbers: allowlist("Phone numbers with country code, or user ids of people who hide their number,"),
  // The newest version that the platform's documents call: .../whatsapp/groups/groups-messaging
  api_url: apiUrl("https://graph.facebook.com/v25.0"),
  session_path: v.optional(
    v.pipe(
      v.string(),
      v.trim(),
      v.minLength(1, "a name for the session, such as whatsapp"),
      v.description("Name of the linked session in the encrypted store. Setting it selects Web mode."),
    ),
  ),
  pair_phone: v.optional(
    v.pipe(
      v.string(),
      v.check((text) => /^\+?[0-9][0-9 .()/-]{4,24}$/.test(text.trim()), "a phone number with country code"),
      v.description("Web mode: phone number of the account, to link by a typed code. Default: link by a QR code."),
    ),
  ),
  mode: v.optional(
    v.pipe(
      v.picklist(["business", "personal"]),
      v.description(
        "Web mode. business: the account belongs to the agent. personal: it is yours; only listed numbers are answered, including you in the chat with yourself.",
      ),
    ),
    "business",
  ),
  group_policy: v.optional(
    v.pipe(
      v.picklist(["allowlist", "ignore"]),
      v.description("Web mode, in groups. allowlist: answer people in allowed_numbers. ignore: don't answer."),
    ),
    "allowlist",
  ),
  mention_only: v.optional(
    v.pipe(
      v.boolean(),
      v.description("Web mode: in groups, answer only messages that mention the account or reply to it."),
    ),
    true,
  ),
  web_version: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[0-9]{1,4}\.[0-9]{1,6}\.[0-9]{1,12}$/, "a version such as 2.3000.1043857760"),
      v.description("Web mode: version of the web client to report. Set it if the platform rejects the built-in one."),
    ),
  ),
  web_root_key: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[0-9a-f]{64}$/, "64 hexadecimal digits"),
      v.description(
        "Web mode: public key that signs the certificate of a test server. Needs an api_url on this machine.",
      ),
    ),
  ),
  ...channelKeys,
});

/** With both, Cloud mode wins. */
export const isWebMode = (section: Pick<v.InferOutput<typeof keys>, "session_path" | "phone_number_id">): boolean =>
  section.session_path !== undefined && section.phone_number_id === undefined;

const NEEDED = "is required in Cloud mode";

/** A foreign API root could read everything that is sent to the platform. */
const isOnThisMachine = (url: string): boolean =>
  /^(?:127(?:\.[0-9]{1,3}){3}|localhost|\[::1\])$/.test(new URL(url).hostname);

export const config = v.pipe(
  keys,
  v.forward(
    v.partialCheck(
      [["access_token"], ["session_path"], ["phone_number_id"]],
      (section) => section.access_token !== undefined || isWebMode(section),
      NEEDED,
    ),
    ["access_token"],
  ),
  v.forward(
    v.partialCheck(
      [["session_path"], ["phone_number_id"]],
      (section) => section.phone_number_id !== undefined || isWebMode(section),
      NEEDED,
    ),
    ["phone_number_id"],
  ),
  v.forward(
    v.partialCheck(
      [["verify_token"], ["session_path"], ["phone_number_id"]],
      (section) => section.verify_token !== undefined || isWebMode(section),
      NEEDED,
    ),
    ["verify_token"],
  ),
  v.forward(
    v.partialCheck(
      [["web_root_key"], ["api_url"]],
      ({ web_root_key: key, api_url: url }) => key === undefined || isOnThisMachine(url),
      "needs an api_url on this machine",
    ),
    ["web_root_key"],
  ),
  v.forward(
    v.partialCheck(
      [["mode"], ["allowed_numbers"], ["session_path"], ["phone_number_id"]],
      (section) =>
        section.mode !== "personal" ||
        !isWebMode(section) ||
        !section.allowed_numbers.some((one) => one.trim() === "*"),
      "can't be * in personal mode: list each number",
    ),
    ["allowed_numbers"],
  ),
);

export type Config = v.InferOutput<typeof config>;

export interface CloudConfig {
  readonly accessToken: string;
  readonly phoneNumberId: string;
  readonly verifyToken: string;
  readonly appSecret: string | undefined;
  readonly allowedNumbers: readonly string[];
  readonly apiUrl: string;
}

/** Undefined in Web mode. */
export function cloudConfig(section: Config): CloudConfig | undefined {
  const { access_token: accessToken, phone_number_id: phoneNumberId, verify_token: verifyToken } = section;
  if (accessToken === undefined || phoneNumberId === undefined || verifyToken === undefined) return undefined;
  return {
    accessToken,
    phoneNumberId,
    verifyToken,
    appSecret: section.app_secret?.trim() === "" ? undefined : section.app_secret,
    allowedNumbers: section.allowed_numbers,
    apiUrl: section.api_url,
  };
}
