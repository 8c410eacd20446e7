/** The client-server API, endpoint by endpoint. What is not here is M_UNRECOGNIZED, as on a homeserver. */
import { randomBytes } from "node:crypto";
import type { PlatformRequest } from "../base.ts";
import { type Answer, MatrixFault, type Route } from "./call.ts";
import { keyRoutes } from "./keys.ts";
import { roomRoutes } from "./room-routes.ts";
import { syncAnswer } from "./sync.ts";
import type { Device, Dict, World } from "./world.ts";

const MAX_UPLOAD_BYTES = 52_428_800;

/** Of any request; "wait": a sync that has nothing to tell yet. */
export function routes(world: World): (request: PlatformRequest) => Answer {
  const all = [...OPEN, ...roomRoutes, ...OTHERS, ...keyRoutes].map(([method, path, run]) => ({
    method,
    pattern: new RegExp(`^/_matrix/${path.replaceAll("*", "([^/]+)").replaceAll(".", "\\.")}$`),
    isOpen: OPEN.some((open) => open[2] === run),
    run,
  }));
  return (request) => {
    const path = request.path;
    const matching = all.filter(({ pattern }) => pattern.test(path));
    if (matching.length === 0) throw new MatrixFault(404, "M_UNRECOGNIZED", `Unrecognized request ${path}`);
    const route = matching.find(({ method }) => method === request.method);
    if (!route) throw new MatrixFault(405, "M_UNRECOGNIZED", "Method not allowed");
    const token = /^Bearer (\S+)$/.exec(request.headers["authorization"] ?? "")?.[1];
    const device = world.deviceOf(token);
    if (!route.isOpen && token === undefined) throw new MatrixFault(401, "M_MISSING_TOKEN", "Missing access token");
    if (!route.isOpen && device === undefined) throw new MatrixFault(401, "M_UNKNOWN_TOKEN", "Unknown access token");
    const parts = (route.pattern.exec(path) ?? []).slice(1).map(decodeURIComponent);
    return route.run({ world, device: device as Device, body: bodyOf(request), request, parts });
  };
}

function bodyOf({ method, path, body, headers }: PlatformRequest): Dict {
  if (method === "GET" || path.includes("/media/")) return {};
  if (body.byteLength === 0) return {};
  // matrix-js-sdk sends requests for a verification in a room as text; homeservers read them.
  if (!/^(?:application\/json|text\/plain)\b/.test(headers["content-type"] ?? "")) {
    throw new MatrixFault(400, "M_NOT_JSON", "The content type is not application/json");
  }
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new MatrixFault(400, "M_NOT_JSON", "Content not JSON.");
  }
  if (typeof json !== "object" || json === null || Array.isArray(json))
    throw new MatrixFault(400, "M_BAD_JSON", "No object");
  return json as Dict;
}

const OPEN: readonly Route[] = [
  ["GET", "client/versions", () => ({ versions: ["v1.1", "v1.5", "v1.11", "v1.12"], unstable_features: {} })],
  [
    "POST",
    "client/v3/login",
    ({ world, body }) => {
      const { user, type } = (body["identifier"] ?? {}) as Dict;
      const account = world.accounts.get(String(user));
      if (body["type"] !== "m.login.password" || type !== "m.id.user")
        throw new MatrixFault(400, "M_UNKNOWN", "Unknown login");
      if (!account || account.password !== body["password"])
        throw new MatrixFault(403, "M_FORBIDDEN", "Invalid username or password");
      const wanted = typeof body["device_id"] === "string" ? body["device_id"] : undefined;
      const previous = wanted === undefined ? undefined : account.devices.get(wanted);
      const device = world.addDevice(account.userId, wanted);
      // The device keeps its keys, and the old token is void.
      if (previous) Object.assign(device, { keys: previous.keys, oneTimeKeys: previous.oneTimeKeys });
      return { user_id: device.userId, device_id: device.deviceId, access_token: device.token };
    },
  ],
];

const OTHERS: readonly Route[] = [
  [
    "GET",
    "client/v3/account/whoami",
    ({ device }) => ({ user_id: device.userId, device_id: device.deviceId, is_guest: false }),
  ],
  ["GET", "client/v3/sync", ({ world, device, request }) => syncAnswer(world, device, request.query)],
  ["POST", "client/v3/user/*/filter", () => ({ filter_id: "1" })],
  ["GET", "client/v3/user/*/filter/*", () => ({})],
  ["GET", "client/v3/pushrules/", () => ({ global: {} })],
  ["GET", "client/v3/capabilities", () => ({ capabilities: {} })],
  [
    "GET",
    "client/v3/profile/*",
    ({ world, parts: [user = ""] }) => ({ displayname: world.accounts.get(user)?.displayName ?? "" }),
  ],
  [
    "POST",
    "client/v3/logout",
    ({ world, device }) => (world.accounts.get(device.userId)!.devices.delete(device.deviceId), {}),
  ],
  [
    "GET",
    "client/v3/user/*/account_data/*",
    ({ world, device, parts: [, type = ""] }) => {
      const content = world.accounts.get(device.userId)!.accountData.get(type);
      if (!content) throw new MatrixFault(404, "M_NOT_FOUND", "Account data not found");
      return content;
    },
  ],
  [
    "PUT",
    "client/v3/user/*/account_data/*",
    ({ world, device, body, parts: [, type = ""] }) => {
      world.accounts.get(device.userId)!.accountData.set(type, body);
      return {};
    },
  ],
  [
    "POST",
    "media/v3/upload",
    ({ world, request }) => {
      if (request.body.byteLength > MAX_UPLOAD_BYTES) throw new MatrixFault(413, "M_TOO_LARGE", "Upload too large");
      const id = randomBytes(12).toString("hex");
      world.media.set(id, {
        bytes: request.body,
        mimeType: request.headers["content-type"] ?? "application/octet-stream",
      });
      return { content_uri: `mxc://${world.server}/${id}` };
    },
  ],
  [
    "GET",
    "client/v1/media/download/*/*",
    ({ world, parts: [server, id = ""] }) => {
      const file = world.media.get(id);
      if (server !== world.server || !file) throw new MatrixFault(404, "M_NOT_FOUND", "Not found");
      if (file.redirect !== undefined) return { reply: { status: 307, headers: { location: file.redirect } } };
      return { reply: { headers: { "content-type": file.mimeType }, bytes: file.bytes } };
    },
  ],
];
