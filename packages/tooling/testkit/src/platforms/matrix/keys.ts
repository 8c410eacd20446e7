/** Keys of devices and accounts, messages between devices, and the key backup. https://spec.matrix.org/v1.16/client-server-api/#end-to-end-encryption */
import { type Call, MatrixFault, type Route } from "./call.ts";
import type { Dict } from "./world.ts";

const accountOf = ({ world, device }: Call) => world.accounts.get(device.userId)!;

function upload({ world, device, body }: Call): Dict {
  const keys = body["device_keys"] as Dict | undefined;
  if (keys) {
    if (keys["user_id"] !== device.userId || keys["device_id"] !== device.deviceId)
      throw new MatrixFault(400, "M_UNKNOWN", "Other device");
    device.keys = keys;
    world.deviceChanged(device.userId);
  }
  for (const [id, key] of Object.entries((body["one_time_keys"] ?? {}) as Dict)) {
    const known = device.oneTimeKeys.get(id);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(key)) {
      throw new MatrixFault(
        400,
        "M_UNKNOWN",
        `One time key ${id} already exists. Old key: ${JSON.stringify(known)}; new key: ${JSON.stringify(key)}`,
      );
    }
    device.oneTimeKeys.set(id, key);
  }
  for (const [id, key] of Object.entries((body["fallback_keys"] ?? {}) as Dict)) device.fallbackKeys.set(id, key);
  return { one_time_key_counts: { signed_curve25519: device.oneTimeKeys.size } };
}

function query({ world, body }: Call): Dict {
  const device_keys: Dict = {};
  const found = { master: {} as Dict, self_signing: {} as Dict, user_signing: {} as Dict };
  for (const user of Object.keys((body["device_keys"] ?? {}) as Dict)) {
    const account = world.accounts.get(user);
    if (!account) continue;
    device_keys[user] = Object.fromEntries(
      [...account.devices.values()].flatMap(({ deviceId, keys }) => (keys ? [[deviceId, keys]] : [])),
    );
    for (const kind of ["master", "self_signing", "user_signing"] as const) {
      const key = account.crossSigning.get(`${kind}_key`);
      if (key) found[kind][user] = key;
    }
  }
  return {
    device_keys,
    failures: {},
    master_keys: found.master,
    self_signing_keys: found.self_signing,
    user_signing_keys: found.user_signing,
  };
}

function claim({ world, body }: Call): Dict {
  const one_time_keys: Record<string, Dict> = {};
  for (const [user, devices] of Object.entries((body["one_time_keys"] ?? {}) as Record<string, Dict>)) {
    for (const deviceId of Object.keys(devices)) {
      const device = world.accounts.get(user)?.devices.get(deviceId);
      if (!device) continue;
      const [entry] = device.oneTimeKeys.size > 0 ? device.oneTimeKeys : device.fallbackKeys;
      if (!entry) continue;
      device.oneTimeKeys.delete(entry[0]);
      (one_time_keys[user] ??= {})[deviceId] = { [entry[0]]: entry[1] };
    }
  }
  return { one_time_keys, failures: {} };
}

function sendToDevice({ world, device, request, body, parts: [type = ""] }: Call): Dict {
  if (device.transactions.has(request.path)) return {};
  device.transactions.set(request.path, "sent");
  for (const [user, messages] of Object.entries((body["messages"] ?? {}) as Record<string, Dict>)) {
    const devices = world.accounts.get(user)?.devices;
    for (const [deviceId, content] of Object.entries(messages)) {
      const to = deviceId === "*" ? [...(devices?.values() ?? [])] : [devices?.get(deviceId)];
      for (const one of to) if (one) world.sendToDevice(one, { type, sender: device.userId, content });
    }
  }
  return {};
}

/** Signatures are added to what is signed: devices, and the keys of accounts. */
function signatures({ world, body }: Call): Dict {
  for (const [user, signed] of Object.entries(body as Record<string, Dict>)) {
    const account = world.accounts.get(user);
    for (const [id, object] of Object.entries(signed as Record<string, Dict>)) {
      const key =
        account?.devices.get(id)?.keys ??
        [...(account?.crossSigning.values() ?? [])].find(({ keys }) =>
          Object.keys(keys as Dict).some((name) => name.endsWith(`:${id}`)),
        );
      if (!key) throw new MatrixFault(400, "M_UNKNOWN", "No such key");
      const all = (key["signatures"] ??= {}) as Record<string, Dict>;
      for (const [signer, made] of Object.entries((object["signatures"] ?? {}) as Record<string, Dict>)) {
        all[signer] = { ...all[signer], ...made };
      }
    }
    world.deviceChanged(user);
  }
  return { failures: {} };
}

function signingKeys(call: Call): Dict {
  const account = accountOf(call);
  const { auth, ...keys } = call.body;
  // The first ones need no password. https://spec.matrix.org/v1.16/client-server-api/#post_matrixclientv3keysdevice_signingupload
  const isFirst = account.crossSigning.size === 0;
  const given = auth as Dict | undefined;
  if (!isFirst && (given?.["type"] !== "m.login.password" || given["password"] !== account.password)) {
    throw new MatrixFault(401, "M_FORBIDDEN", "Authentication needed", {
      session: "s",
      flows: [{ stages: ["m.login.password"] }],
      params: {},
    });
  }
  for (const [name, key] of Object.entries(keys as Record<string, Dict>)) account.crossSigning.set(name, key);
  call.world.deviceChanged(account.userId);
  return {};
}

const backupOf = (call: Call) => {
  const { backup } = accountOf(call);
  if (!backup) throw new MatrixFault(404, "M_NOT_FOUND", "No current backup version");
  return backup;
};

export const keyRoutes: readonly Route[] = [
  ["POST", "client/v3/keys/upload", upload],
  ["POST", "client/v3/keys/query", query],
  ["POST", "client/v3/keys/claim", claim],
  ["POST", "client/v3/keys/signatures/upload", signatures],
  ["POST", "client/v3/keys/device_signing/upload", signingKeys],
  ["PUT", "client/v3/sendToDevice/*/*", sendToDevice],
  [
    "GET",
    "client/v3/room_keys/version",
    (call) => ({ ...backupOf(call).body, version: backupOf(call).version, count: 0, etag: "1" }),
  ],
  [
    "POST",
    "client/v3/room_keys/version",
    (call) => {
      accountOf(call).backup = { version: "1", body: call.body, keys: new Map() };
      return { version: "1" };
    },
  ],
  [
    "PUT",
    "client/v3/room_keys/keys",
    (call) => {
      const backup = backupOf(call);
      if (call.request.query.get("version") !== backup.version)
        throw new MatrixFault(403, "M_WRONG_ROOM_KEYS_VERSION", "Wrong version");
      for (const [room, { sessions }] of Object.entries(
        (call.body["rooms"] ?? {}) as Record<string, { sessions: Dict }>,
      )) {
        const known = backup.keys.get(room) ?? new Map<string, unknown>();
        for (const [id, session] of Object.entries(sessions)) known.set(id, session);
        backup.keys.set(room, known);
      }
      return { count: 1, etag: "1" };
    },
  ],
  [
    "GET",
    "client/v3/room_keys/keys/*/*",
    (call) => {
      const [room = "", session = ""] = call.parts;
      const key = backupOf(call).keys.get(room)?.get(session);
      if (!key) throw new MatrixFault(404, "M_NOT_FOUND", "No room_keys found");
      return key as Dict;
    },
  ],
];
