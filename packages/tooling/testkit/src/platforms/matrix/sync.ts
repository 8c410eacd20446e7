/** What a client is told since it last asked. https://spec.matrix.org/v1.16/client-server-api/#get_matrixclientv3sync */
import { placeIn } from "./call.ts";
import { type Device, type Dict, type RoomEvent, shown, type World } from "./world.ts";

const DEFAULT_LIMIT = 10;

/** "wait": nothing has happened, and the client would wait for something. */
export function syncAnswer(world: World, device: Device, query: URLSearchParams): Dict | "wait" {
  const since = placeIn(query.get("since"));
  // What was told is taken once it is behind `since`.
  if (since !== undefined) device.toDevice.splice(0, device.toDevice.findLastIndex(({ at }) => at <= since) + 1);
  const toDevice = device.toDevice.map(({ event }) => event);
  const rooms = roomsSince(world, device, since, limitIn(query));
  const changed = changedDevices(world, device.userId, since);
  const isSilent = toDevice.length === 0 && changed.length === 0 && Object.keys(rooms).length === 0;
  if (since !== undefined && isSilent && Number(query.get("timeout") ?? 0) > 0) return "wait";
  const unused = [...device.fallbackKeys.keys()].map((id) => id.split(":")[0]);
  return {
    next_batch: `s${world.at}`,
    ...(Object.keys(rooms).length > 0 && { rooms }),
    ...(toDevice.length > 0 && { to_device: { events: toDevice } }),
    ...(changed.length > 0 && { device_lists: { changed, left: [] } }),
    device_one_time_keys_count: { signed_curve25519: device.oneTimeKeys.size },
    device_unused_fallback_key_types: [...new Set(unused)],
  };
}

function limitIn(query: URLSearchParams): number {
  const given = query.get("filter");
  if (given === null || !given.startsWith("{")) return DEFAULT_LIMIT;
  const filter = JSON.parse(given) as { room?: { timeline?: { limit?: number } } };
  return filter.room?.timeline?.limit ?? DEFAULT_LIMIT;
}

function roomsSince(world: World, device: Device, since: number | undefined, limit: number): Dict {
  const { userId } = device;
  const show = (event: RoomEvent): Dict => shown(event, device);
  const join: Dict = {};
  const invite: Dict = {};
  const leave: Dict = {};
  for (const room of world.rooms.values()) {
    const membership = world.membership(room.id, userId);
    const own = room.state.get(`m.room.member ${userId}`);
    if (membership === "invite" && (since === undefined || own!.at > since)) {
      const events = [...room.state.values()]
        .map(show)
        .map(({ type, state_key, content, sender }) => ({ type, state_key, content, sender }));
      invite[room.id] = { invite_state: { events } };
    }
    if (membership === "leave" && since !== undefined && own!.at > since) {
      leave[room.id] = { timeline: { events: [show(own!)], limited: false, prev_batch: `t${own!.at}` } };
    }
    if (membership !== "join") continue;
    const joinedAt =
      own!.unsigned["prev_content"] === undefined || (own!.unsigned["prev_content"] as Dict)["membership"] !== "join"
        ? own!.at
        : 0;
    const isNew = since !== undefined && joinedAt > since;
    // A room that was just joined is told with its history.
    const fresh = room.events.filter(({ at }) => since === undefined || isNew || at > since);
    if (fresh.length === 0) continue;
    const events = fresh.slice(-limit);
    const first = events[0]!.at;
    const state = [...room.state.values()].filter(
      ({ at }) => (since === undefined || isNew || at > since) && at < first,
    );
    join[room.id] = {
      summary: {},
      state: { events: state.map(show) },
      timeline: { events: events.map(show), limited: fresh.length > limit, prev_batch: `t${first - 1}` },
      ephemeral: { events: [] },
      account_data: { events: [] },
      unread_notifications: {},
    };
  }
  return {
    ...(Object.keys(join).length > 0 && { join }),
    ...(Object.keys(invite).length > 0 && { invite }),
    ...(Object.keys(leave).length > 0 && { leave }),
  };
}

/** People in encrypted rooms with this one whose devices have changed. */
function changedDevices(world: World, userId: string, since: number | undefined): string[] {
  if (since === undefined) return [];
  const shares = (other: string): boolean =>
    other === userId ||
    [...world.rooms.values()].some(
      ({ id, state }) =>
        state.has("m.room.encryption ") &&
        world.membership(id, other) === "join" &&
        world.membership(id, userId) === "join",
    );
  const joined = [...world.rooms.values()].flatMap(({ id, state }) =>
    state.has("m.room.encryption ") && world.membership(id, userId) === "join"
      ? [...state.values()]
          .filter(({ type, at, content }) => type === "m.room.member" && at > since && content["membership"] === "join")
          .map(({ state_key: user }) => String(user))
      : [],
  );
  const changed = world.deviceChanges
    .filter(({ at, userId: user }) => at > since && shares(user))
    .map(({ userId: user }) => user);
  return [...new Set([...changed, ...joined])].filter((user) => user !== userId || changed.includes(user));
}
