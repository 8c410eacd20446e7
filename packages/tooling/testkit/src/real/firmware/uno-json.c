/* JSON lines with ids. Enough of JSON for the commands that svc sends, which has no blanks in them. */
#include <stdlib.h>
#include <string.h>
#include "uno.h"

#define LINE_BYTES 256
static char line[LINE_BYTES];

static void serial_print(const char *text) {
  while (*text) serial_write((uint8_t)*text++);
}

/* 0: the line did not fit. */
static uint8_t read_line(void) {
  uint16_t length = 0;
  for (;;) {
    char byte = (char)serial_read();
    if (byte == '\n') break;
    if (length < LINE_BYTES) line[length] = byte;
    length++;
  }
  if (length >= LINE_BYTES) return 0;
  line[length] = 0;
  return 1;
}

/* What follows "name": in the line, or null. */
static char *value_of(const char *name) {
  char *at = strstr(line, name);
  return at ? at + strlen(name) : 0;
}

static void print_id(const char *id) {
  serial_print("{\"id\":\"");
  while (id && *id && *id != '"') serial_write((uint8_t)*id++);
  serial_print("\",\"ok\":");
}

static void print_number(int number) {
  char text[8];
  itoa(number, text, 10);
  serial_print(text);
}

static void refuse(const char *id, const char *why) {
  print_id(id);
  serial_print("false,\"error\":\"");
  serial_print(why);
  serial_print("\"}\n");
}

static void answer(const char *id, const char *json) {
  print_id(id);
  serial_print("true,\"result\":");
  serial_print(json);
  serial_print("}\n");
}

int main(void) {
  serial_begin();
  serial_print("test firmware ready\n");
  for (;;) {
    if (!read_line()) {
      refuse("", "line too long");
      continue;
    }
    char *id = value_of("\"id\":\""), *cmd = value_of("\"cmd\":\""), *number = value_of("\"pin\":");
    int pin = number ? atoi(number) : -1;
    if (!id || !cmd) refuse("", "no command");
    else if (!strncmp(cmd, "ping\"", 5)) answer(id, "\"pong\"");
    else if (!strncmp(cmd, "capabilities\"", 13)) answer(id, "{\"board\":\"arduino-uno\",\"gpio\":[2,19]}");
    else if (pin < 0 || !is_usable((uint8_t)pin)) refuse(id, "pin not available");
    else if (!strncmp(cmd, "gpio_write\"", 11)) {
      char *value = value_of("\"value\":");
      set_mode((uint8_t)pin, OUTPUT);
      set_level((uint8_t)pin, value && *value == '1');
      answer(id, "\"done\"");
    } else if (!strncmp(cmd, "gpio_read\"", 10)) {
      if (strstr(line, "\"pull\":\"up\"")) set_mode((uint8_t)pin, PULLUP);
      print_id(id);
      serial_print("true,\"result\":");
      print_number(level_of[pin]);
      serial_print("}\n");
    } else refuse(id, "unknown command");
  }
}
