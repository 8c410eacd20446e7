/* The part of Firmata 2.5 that gpio tools use: https://github.com/firmata/protocol */
#include "uno.h"

static uint8_t sysex[32];

static void report_version(void) {
  serial_write(0xf9);
  serial_write(2);
  serial_write(5);
}

static void report_firmware(void) {
  const char *name = "TestFirmata.ino";
  serial_write(0xf0);
  serial_write(0x79);
  serial_write(2);
  serial_write(5);
  for (; *name; name++) {
    serial_write(*name & 0x7f);
    serial_write((uint8_t)*name >> 7);
  }
  serial_write(0xf7);
}

static void report_capabilities(void) {
  serial_write(0xf0);
  serial_write(0x6c);
  for (uint8_t pin = 0; pin < PINS; pin++) {
    if (is_usable(pin)) {
      serial_write(INPUT);
      serial_write(1);
      serial_write(PULLUP);
      serial_write(1);
      serial_write(OUTPUT);
      serial_write(1);
    }
    serial_write(0x7f);
  }
  serial_write(0xf7);
}

static void report_state(uint8_t pin) {
  serial_write(0xf0);
  serial_write(0x6e);
  serial_write(pin);
  if (pin < PINS) {
    serial_write(mode_of[pin]);
    serial_write(level_of[pin]);
  }
  serial_write(0xf7);
}

static void report_port(uint8_t port) {
  uint8_t bits = 0;
  for (uint8_t bit = 0; bit < 8; bit++) {
    uint8_t pin = port * 8 + bit;
    if (pin < PINS && level_of[pin]) bits |= 1 << bit;
  }
  serial_write(0x90 | port);
  serial_write(bits & 0x7f);
  serial_write(bits >> 7);
}

static void take_sysex(void) {
  uint8_t length = 0, byte;
  while ((byte = serial_read()) != 0xf7) {
    if (length < sizeof sysex) sysex[length++] = byte;
  }
  if (length == 1 && sysex[0] == 0x79) report_firmware();
  if (length == 1 && sysex[0] == 0x6b) report_capabilities();
  if (length == 2 && sysex[0] == 0x6d) report_state(sysex[1]);
}

int main(void) {
  serial_begin();
  report_version();
  report_firmware();
  for (;;) {
    uint8_t command = serial_read();
    if (command == 0xf0) take_sysex();
    else if (command == 0xf9) report_version();
    else if (command == 0xf4) {
      uint8_t pin = serial_read(), mode = serial_read();
      if (is_usable(pin)) set_mode(pin, mode);
    } else if (command == 0xf5) {
      uint8_t pin = serial_read(), level = serial_read();
      if (is_usable(pin) && mode_of[pin] == OUTPUT) set_level(pin, level != 0);
    } else if ((command & 0xf0) == 0xd0) {
      if (serial_read()) report_port(command & 0x0f);
    }
  }
}
