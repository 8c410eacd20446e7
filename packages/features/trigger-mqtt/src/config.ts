import { secret } from "@svc/contract";
import { isAbsolute } from "node:path";
import * as v from "valibot";

const words = (description: string) => v.optional(v.pipe(v.string(), v.nonEmpty(), v.description(description)));

const keys = v.strictObject({
  url: v.pipe(
    v.string(),
    v.trim(),
    v.check(isBrokerUrl, "mqtt://host:1883 or mqtts://host:8883, without a user name, password or path"),
    v.description(
      "Address of the broker. mqtts:// is encrypted; mqtt:// is refused for public addresses. Default ports: 1883 and 8883.",
    ),
  ),
  topics: v.pipe(
    v.array(v.pipe(v.string(), v.check(isTopicFilter, "a topic filter such as home/+/door or home/#"))),
    v.minLength(1, "at least one topic filter"),
    v.maxLength(100),
    v.description("Topic filters to subscribe to, with QoS 1. Triggers see only messages that match one of them."),
  ),
  username: words("User name at the broker."),
  password: v.optional(
    v.pipe(
      secret({ ask: true, env: "SVC_MQTT_PASSWORD", envMode: "override" }),
      v.description("Password of that user."),
    ),
  ),
  client_id: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[\w.:-]{1,128}$/, "1 to 128 letters, digits, _ . : -"),
      v.description(
        "Client id, under which the broker keeps the session while svc is down. It must be unique. Default: generated at the first start and kept.",
      ),
    ),
  ),
  tls_ca: v.optional(
    v.pipe(
      v.string(),
      v.check((path) => isAbsolute(path), "an absolute path"),
      v.description("PEM file of certificate authorities to trust for the broker, instead of the system's."),
    ),
  ),
});

export const config = v.pipe(
  keys,
  v.forward(
    v.partialCheck(
      [["username"], ["password"]],
      ({ username, password }) => password === undefined || username !== undefined,
      "a user name; MQTT has no password without one",
    ),
    ["username"],
  ),
  v.forward(
    v.partialCheck(
      [["url"], ["tls_ca"]],
      ({ url, tls_ca }) => tls_ca === undefined || /^mqtts:/i.test(url),
      "an mqtts:// url; without it there is no certificate to check",
    ),
    ["tls_ca"],
  ),
);

export type Config = v.InferOutput<typeof config>;

function isBrokerUrl(text: string): boolean {
  if (!/^mqtts?:\/\/[^\s\p{Cc}\\%]+$/iu.test(text) || !URL.canParse(text)) return false;
  const { username, password, hostname, pathname, search, hash, port } = new URL(text);
  const isBare = pathname === "" || pathname === "/";
  return hostname !== "" && port !== "0" && isBare && `${username}${password}${search}${hash}` === "";
}

/** Section 4.7 of MQTT 3.1.1, without shared subscriptions: another subscriber would take messages away from this one. */
function isTopicFilter(text: string): boolean {
  if (text === "" || text.includes("\0") || text.startsWith("$share/") || Buffer.byteLength(text) > 65_535)
    return false;
  const levels = text.split("/");
  return levels.every((level, index) =>
    level.includes("#") ? level === "#" && index === levels.length - 1 : !level.includes("+") || level === "+",
  );
}
