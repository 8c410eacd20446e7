/** A library with the functions of the vendor's, compiled from C, that writes down every call and does what a file says. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { MissingPart } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";

export const missingCompiler = (): MissingPart | undefined =>
  spawnSync("gcc", ["--version"]).error === undefined
    ? undefined
    : { name: "gcc", reason: "gcc is not on PATH; apt-get install gcc libc6-dev" };

export interface StandIn {
  readonly file: string;
  /** Folder that is a home for the feature. */
  readonly home: string;
  /** Each call as `name arguments`, since the last time it was asked. */
  calls(): string[];
  /**
   * Sets what it does: `adapters 2`, `fail c_aa_open -7`, `status 6` of each I2C transfer, `hang c_aa_i2c_read_ext` until `go`. Together in
   * one text, by lines.
   */
  behave(text: string): void;
  remove(): void;
}

export function compileLibrary(): StandIn {
  const home = temporaryHome();
  const path = (name: string): string => join(home.path, name);
  writeFileSync(path("stand-in.c"), SOURCE.replaceAll("@FOLDER@", home.path));
  execFileSync("gcc", ["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", path("aardvark.so"), path("stand-in.c")]);
  let read = 0;
  writeFileSync(path("behave"), "");
  return {
    file: path("aardvark.so"),
    home: home.path,
    calls() {
      const lines = existsSync(path("calls")) ? readFileSync(path("calls"), "utf8").split("\n").filter(Boolean) : [];
      const fresh = lines.slice(read);
      read = lines.length;
      return fresh;
    },
    behave: (text) => writeFileSync(path("behave"), text),
    remove: () => home.remove(),
  };
}

/** Devices: 0x20 and 0x50 with 256 registers each, whose values are register times three. SPI gives back the bytes inverted. */
const SOURCE = String.raw`
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static uint8_t registers[128][256];
static uint8_t pointer_of[128];
static uint8_t pins, outputs;

static int setting(const char *form, const char *name, int *value) {
  char line[200], key[100], which[100];
  FILE *file = fopen("@FOLDER@/behave", "r");
  int found = 0;
  while (file && fgets(line, sizeof line, file)) {
    which[0] = 0;
    int number = 0;
    if (!strcmp(form, "fail") && sscanf(line, "fail %99s %d", which, &number) == 2 && !strcmp(which, name)) found = 1;
    else if (!strcmp(form, "hang") && sscanf(line, "hang %99s", which) == 1 && !strcmp(which, name)) found = 1;
    else if (sscanf(line, "%99s %d", key, &number) == 2 && !strcmp(key, form) && !name[0]) found = 1;
    if (found) { *value = number; break; }
  }
  if (file) fclose(file);
  return found;
}

static int called(const char *name, const char *form, ...) {
  FILE *file = fopen("@FOLDER@/calls", "a");
  va_list list;
  int value = 0;
  va_start(list, form);
  fprintf(file, "%s ", name + 5);
  vfprintf(file, form, list);
  fputc('\n', file);
  va_end(list);
  fclose(file);
  while (setting("hang", name, &value)) usleep(2000);
  value = 0;
  setting("fail", name, &value);
  return value;
}
#define CALLED(...) do { int failed = called(__func__, __VA_ARGS__); if (failed) return failed; } while (0)

static void setup(void) {
  static int done;
  for (int at = 0; !done && at < 256; at++) registers[0x20][at] = registers[0x50][at] = at * 3;
  done = 1;
}
static int there(int address) { return address == 0x20 || address == 0x50; }

int c_aa_find_devices(int count, uint16_t *devices) {
  int adapters = 1;
  CALLED("%d", count);
  setting("adapters", "", &adapters);
  for (int at = 0; at < adapters && at < count; at++) devices[at] = at;
  return adapters;
}
int c_aa_open(int port) { setup(); CALLED("%d", port); return port + 1; }
int c_aa_close(int handle) { CALLED("%d", handle); return 1; }
int c_aa_configure(int handle, int config) { CALLED("%d %d", handle, config); return config; }
int c_aa_i2c_bitrate(int handle, int khz) { CALLED("%d %d", handle, khz); return khz; }
int c_aa_i2c_bus_timeout(int handle, uint16_t ms) { CALLED("%d %d", handle, ms); return ms; }
int c_aa_i2c_free_bus(int handle) { CALLED("%d", handle); return 0; }
int c_aa_i2c_read_ext(int handle, uint16_t address, int flags, uint16_t count, uint8_t *bytes, uint16_t *done) {
  int status = 0;
  CALLED("%d %#x %d %d", handle, address, flags, count);
  *done = 0;
  if (setting("status", "", &status)) return status;
  if (!there(address)) return 3;
  if (!setting("short", "", &status)) status = count;
  for (*done = 0; *done < count && *done < status; (*done)++) bytes[*done] = registers[address][pointer_of[address]++];
  return 0;
}
int c_aa_i2c_write_ext(int handle, uint16_t address, int flags, uint16_t count, const uint8_t *bytes, uint16_t *done) {
  char text[2000] = "";
  int status = 0;
  for (int at = 0; at < count; at++) sprintf(text + strlen(text), " %d", bytes[at]);
  CALLED("%d %#x %d:%s", handle, address, flags, text);
  *done = 0;
  if (setting("status", "", &status)) return status;
  if (!there(address)) return 3;
  if (count > 0) pointer_of[address] = bytes[0];
  for (int at = 1; at < count; at++) registers[address][pointer_of[address]++] = bytes[at];
  *done = count;
  return 0;
}
int c_aa_spi_configure(int handle, int polarity, int phase, int order) { CALLED("%d %d %d %d", handle, polarity, phase, order); return 0; }
int c_aa_spi_bitrate(int handle, int khz) { CALLED("%d %d", handle, khz); return khz; }
int c_aa_spi_write(int handle, uint16_t count, const uint8_t *out, uint16_t room, uint8_t *in) {
  CALLED("%d %d %d", handle, count, room);
  for (int at = 0; at < count && at < room; at++) in[at] = ~out[at];
  return count;
}
int c_aa_gpio_direction(int handle, uint8_t mask) { CALLED("%d %#x", handle, mask); outputs = mask; return 0; }
int c_aa_gpio_set(int handle, uint8_t value) { CALLED("%d %#x", handle, value); pins = value; return 0; }
int c_aa_gpio_get(int handle) { int levels = 0x08; CALLED("%d", handle); setting("levels", "", &levels); return levels & ~outputs; }
`;
