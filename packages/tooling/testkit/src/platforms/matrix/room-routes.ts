/** Rooms: their events, their state, who is in them. */
import { matrixHtmlText } from "./html.ts";
import { type Call, MatrixFault, placeIn, type Route } from "./call.ts";
import { type Dict, type Room, shown } from "./world.ts";

const MAX_EVENT_BYTES = 65_536;

const roomOf = ({ world, device, parts: [roomId = ""] }: Call): Room => {
  const room = world.rooms.get(roomId);
  if (!room || world.membership(roomId, device.userId) !== "join") {
    throw new MatrixFault(403, "M_FORBIDDEN", `User ${device.userId} not in room`);
  }
  return room;
};

const eventOf = (room: Room, eventId: string) => {
  const event = room.events.find(({ event_id: id }) => id === eventId);
  if (!event) throw new MatrixFault(404, "M_NOT_FOUND", "Event not found.");
  return event;
};

/** The same transaction of the same device and path is the same event. */
function once({ device, request }: Call, make: () => string): Dict {
  const known = device.transactions.get(request.path);
  const eventId = known ?? make();
  device.transactions.set(request.path, eventId);
  return { event_id: eventId };
}

function send(call: Call): Dict {
  const { world, device, body, request, parts } = call;
  const [roomId = "", type = "", transactionId = ""] = parts;
  const room = roomOf(call);
  demandEvent(type, body, request.body.byteLength);
  if (world.limitMs !== undefined)
    throw new MatrixFault(429, "M_LIMIT_EXCEEDED", "Too Many Requests", { retry_after_ms: world.limitMs });
  if (type === "m.room.encrypted" && !room.state.has("m.room.encryption ")) {
    throw new MatrixFault(400, "M_BAD_JSON", "The fake takes encrypted events in encrypted rooms alone");
  }
  const transaction = { device, id: transactionId };
  return once(call, () => world.append({ roomId, sender: device.userId, type, content: body, transaction }).event_id);
}

function demandEvent(type: string, content: Dict, bytes: number): void {
  if (bytes > MAX_EVENT_BYTES - 1_000) throw new MatrixFault(413, "M_TOO_LARGE", "event too large");
  const bad = (what: string) => new MatrixFault(400, "M_BAD_JSON", what);
  const floats = JSON.stringify(content, (_, value: unknown) => {
    if (typeof value === "number" && !Number.isSafeInteger(value)) throw bad("Bad JSON value: float");
    if (typeof value === "string" && (value.includes("\0") || !value.isWellFormed())) throw bad("Bad text");
    return value;
  });
  void floats;
  if (type !== "m.room.message") return;
  const message = (content["m.new_content"] ?? content) as Dict;
  for (const one of [content, message]) {
    if (typeof one["msgtype"] !== "string" || typeof one["body"] !== "string")
      throw bad("msgtype and body are required");
    if (one["formatted_body"] === undefined) continue;
    if (one["format"] !== "org.matrix.custom.html") throw bad("formatted_body without a format");
    matrixHtmlText(String(one["formatted_body"]));
  }
  const isFile = ["m.image", "m.file", "m.audio", "m.video"].includes(String(content["msgtype"]));
  if (isFile && typeof content["url"] !== "string" && typeof content["file"] !== "object")
    throw bad("a file without url");
}

export const roomRoutes: readonly Route[] = [
  ["PUT", "client/v3/rooms/*/send/*/*", send],
  [
    "PUT",
    "client/v3/rooms/*/redact/*/*",
    (call) => {
      const { world, device, parts } = call;
      const [roomId = "", eventId = ""] = parts;
      const target = eventOf(roomOf(call), eventId);
      return once(call, () => {
        const content = { redacts: target.event_id };
        return world.append({
          roomId,
          sender: device.userId,
          type: "m.room.redaction",
          content,
          redacts: target.event_id,
        }).event_id;
      });
    },
  ],
  [
    "GET",
    "client/v3/rooms/*/members",
    (call) => {
      const { state } = roomOf(call);
      const not = call.request.query.get("not_membership");
      const chunk = [...state.values()].filter(
        ({ type, content }) => type === "m.room.member" && content["membership"] !== not,
      );
      return { chunk: chunk.map((event) => shown(event)) };
    },
  ],
  [
    "GET",
    "client/v3/rooms/*/joined_members",
    (call) => ({
      joined: Object.fromEntries(
        [...roomOf(call).state.values()]
          .filter(({ type, content }) => type === "m.room.member" && content["membership"] === "join")
          .map(({ state_key: user }) => [user, {}]),
      ),
    }),
  ],
  ["GET", "client/v3/rooms/*/state/*/", stateEvent],
  ["GET", "client/v3/rooms/*/state/*/*", stateEvent],
  ["GET", "client/v3/rooms/*/state/*", stateEvent],
  [
    "PUT",
    "client/v3/rooms/*/state/*/",
    (call) => {
      const [roomId = "", type = ""] = call.parts;
      roomOf(call);
      return {
        event_id: call.world.append({ roomId, sender: call.device.userId, type, content: call.body, stateKey: "" })
          .event_id,
      };
    },
  ],
  ["GET", "client/v3/rooms/*/event/*", (call) => shown(eventOf(roomOf(call), call.parts[1] ?? ""), call.device)],
  ["GET", "client/v3/rooms/*/messages", (call) => messages(call, roomOf(call))],
  [
    "PUT",
    "client/v3/rooms/*/typing/*",
    (call) => {
      const [roomId = "", userId = ""] = call.parts;
      roomOf(call);
      if (userId !== call.device.userId) throw new MatrixFault(403, "M_FORBIDDEN", "Cannot set another's typing state");
      const { typing, timeout } = call.body;
      if (typeof typing !== "boolean" || (typing && !Number.isInteger(timeout)))
        throw new MatrixFault(400, "M_BAD_JSON", "typing");
      call.world.signs.push({ kind: "typing", roomId, detail: String(typing) });
      return {};
    },
  ],
  [
    "POST",
    "client/v3/rooms/*/receipt/*/*",
    (call) => {
      const [roomId = "", kind = "", eventId = ""] = call.parts;
      eventOf(roomOf(call), eventId);
      if (kind !== "m.read" && kind !== "m.read.private") throw new MatrixFault(400, "M_INVALID_PARAM", "receipt type");
      call.world.signs.push({ kind: "receipt", roomId, detail: eventId });
      return {};
    },
  ],
  ["POST", "client/v3/join/*", join],
  ["POST", "client/v3/rooms/*/join", join],
  [
    "POST",
    "client/v3/rooms/*/invite",
    (call) => {
      const [roomId = ""] = call.parts;
      roomOf(call);
      call.world.setMembership(roomId, String(call.body["user_id"]), "invite", call.device.userId);
      return {};
    },
  ],
  [
    "POST",
    "client/v3/rooms/*/leave",
    (call) => {
      call.world.setMembership(call.parts[0] ?? "", call.device.userId, "leave");
      return {};
    },
  ],
  [
    "POST",
    "client/v3/createRoom",
    ({ world, device, body }) => {
      const initial = (body["initial_state"] ?? []) as Dict[];
      const encrypted = initial.some(({ type }) => type === "m.room.encryption");
      const roomId = world.addRoom([device.userId], { encrypted });
      for (const user of (body["invite"] ?? []) as string[]) world.setMembership(roomId, user, "invite", device.userId);
      return { room_id: roomId };
    },
  ],
  [
    "GET",
    "client/v3/joined_rooms",
    ({ world, device }) => ({
      joined_rooms: [...world.rooms.keys()].filter((id) => world.membership(id, device.userId) === "join"),
    }),
  ],
  [
    "GET",
    "client/v3/directory/room/*",
    ({ world, parts: [alias = ""] }) => {
      const roomId = world.aliases.get(alias);
      if (roomId === undefined) throw new MatrixFault(404, "M_NOT_FOUND", "Room alias not found");
      return { room_id: roomId, servers: [world.server] };
    },
  ],
];

function stateEvent(call: Call): Dict {
  const [, type = "", key = ""] = call.parts;
  const event = roomOf(call).state.get(`${type} ${key}`);
  if (!event) throw new MatrixFault(404, "M_NOT_FOUND", "Event not found.");
  return event.content;
}

function join({ world, device, parts: [target = ""] }: Call): Dict {
  const roomId = target.startsWith("#") ? world.aliases.get(target) : target;
  if (roomId === undefined || !world.rooms.has(roomId)) throw new MatrixFault(404, "M_NOT_FOUND", "No known servers");
  const membership = world.membership(roomId, device.userId);
  if (membership !== "join" && membership !== "invite")
    throw new MatrixFault(403, "M_FORBIDDEN", "You are not invited to this room.");
  if (membership === "invite") world.setMembership(roomId, device.userId, "join");
  return { room_id: roomId };
}

function messages({ request, device }: Call, { events }: Room): Dict {
  const { query } = request;
  if (query.get("dir") !== "b") throw new MatrixFault(400, "M_INVALID_PARAM", "The fake pages backwards alone");
  const from = placeIn(query.get("from")) ?? Infinity;
  const to = placeIn(query.get("to")) ?? 0;
  const limit = Number(query.get("limit") ?? 10);
  const before = events.filter(({ at }) => at <= from && at > to).toReversed();
  const chunk = before.slice(0, limit);
  const isMore = before.length > limit;
  return {
    chunk: chunk.map((event) => shown(event, device)),
    start: query.get("from"),
    ...(isMore && { end: `t${chunk.at(-1)!.at - 1}` }),
  };
}
