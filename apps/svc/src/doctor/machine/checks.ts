/** Every check of `svc doctor`, in the order they are shown. */
import type { Check } from "./check.ts";
import { clock } from "./clock.ts";
import { config, configInForce } from "./config.ts";
import { daemon, features, forwarding, lockedMessages, version } from "./daemon.ts";
import { database } from "./database.ts";
import { devices, pairingCodes } from "./devices.ts";
import { disk } from "./disk.ts";
import { gateway, port } from "./gateway.ts";
import { logs } from "./logs.ts";
import { fileModes, homeFolder, keyFile } from "./modes.ts";
import { procedures } from "./procedures.ts";
import { localPaths, proxyHeaders, publicUrl } from "./public-url.ts";
import { coreDumps, root } from "./security.ts";
import { secrets } from "./secrets.ts";
import { settings } from "./settings.ts";
import { trustedInput } from "./trusted-input.ts";
import { variables } from "./variables.ts";

export const CHECKS: readonly Check[] = [
  config,
  configInForce,
  secrets,
  variables,
  keyFile,
  homeFolder,
  daemon,
  version,
  gateway,
  port,
  publicUrl,
  forwarding,
  features,
  lockedMessages,
  settings,
  procedures,
  database,
  disk,
  logs,
  clock,
  fileModes,
  proxyHeaders,
  localPaths,
  devices,
  pairingCodes,
  trustedInput,
  root,
  coreDumps,
];
