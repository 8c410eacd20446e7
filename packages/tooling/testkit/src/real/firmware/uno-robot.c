/*
 * JSON lines with ids for a robot of two motors, whose board stops them by itself: a timer of its own counts milliseconds and ends every
 * command after its life, whatever the serial port does. Wheels, a wall ahead and switches are counted in software.
 */
#include <avr/interrupt.h>
#include <stdlib.h>
#include <string.h>
#include "uno.h"

#define LINE_BYTES 256
/* No command lives longer, whatever it says. */
#define LONGEST_TTL_MS 500

static char line[LINE_BYTES];

static volatile uint32_t now_ms, set_at, stopped_at;
/* When a test changed something, or the robot touched the wall; and how many commands of svc came from then until the motors stood. */
static volatile uint32_t fault_at;
static volatile uint16_t heard;
static volatile uint8_t is_counting;
static volatile uint16_t ttl_ms;
static volatile int16_t left_speed, right_speed;
/* Commands that moved the motors, and ends by the timer. */
static volatile uint16_t commands, expiries;
/* Micrometres to the wall ahead; the sensor's noise is the lowest digit. */
static volatile int32_t wall_um = 3000000;
static volatile uint8_t is_frozen, is_dead;
static int frozen_mm;
/* How much farther the sensor says the wall is: plausible, and wrong. */
static int lie_mm;
/* Pressed, which is LOW, when the robot touches the wall. */
#define BUMPER 3

static void fault(void) {
  fault_at = now_ms;
  heard = 0;
  is_counting = 1;
}

static void motors_off(void) {
  if (left_speed || right_speed) {
    stopped_at = now_ms;
    is_counting = 0;
  }
  left_speed = right_speed = 0;
  set_level(5, 0);
  set_level(6, 0);
}

/* Each millisecond. */
ISR(TIMER1_COMPA_vect) {
  now_ms++;
  uint8_t was_apart = wall_um > 0;
  wall_um -= (left_speed + right_speed) / 2;
  if (wall_um < 0) wall_um = 0;
  if (was_apart && wall_um == 0) fault();
  if ((left_speed || right_speed) && now_ms - set_at >= ttl_ms) {
    motors_off();
    expiries++;
  }
}

static void timer_begin(void) {
  TCCR1A = 0;
  TCCR1B = (1 << WGM12) | (1 << CS11) | (1 << CS10); /* until OCR1A, 250 kHz */
  OCR1A = 249;
  TIMSK1 = 1 << OCIE1A;
  sei();
}

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

static int32_t number_of(const char *name) {
  char *at = value_of(name);
  return at ? atol(at) : 0;
}

static void print_id(const char *id) {
  serial_print("{\"id\":\"");
  while (id && *id && *id != '"') serial_write((uint8_t)*id++);
  serial_print("\",\"ok\":");
}

static void print_number(int32_t number) {
  char text[12];
  ltoa(number, text, 10);
  serial_print(text);
}

static void print_field(const char *name, int32_t number) {
  serial_print(name);
  print_number(number);
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

static void answer_number(const char *id, int32_t number) {
  print_id(id);
  serial_print("true,\"result\":");
  print_number(number);
  serial_print("}\n");
}

static void motor_set(const char *id) {
  int32_t ttl = number_of("\"ttl_ms\":");
  if (ttl <= 0) {
    refuse(id, "no ttl_ms");
    return;
  }
  cli();
  left_speed = (int16_t)number_of("\"left_speed\":");
  right_speed = (int16_t)number_of("\"right_speed\":");
  ttl_ms = ttl > LONGEST_TTL_MS ? LONGEST_TTL_MS : (uint16_t)ttl;
  set_at = now_ms;
  commands++;
  set_mode(5, OUTPUT);
  set_mode(6, OUTPUT);
  set_level(5, left_speed != 0);
  set_level(6, right_speed != 0);
  sei();
  answer(id, "\"done\"");
}

/* What a test reads: times of the board's own clock. */
static void report(const char *id) {
  cli();
  uint32_t now = now_ms, set = set_at, stopped = stopped_at;
  int32_t wall = wall_um / 1000;
  uint16_t set_count = commands, expiry_count = expiries, heard_count = heard;
  uint32_t since = fault_at;
  uint8_t moves = left_speed || right_speed;
  sei();
  print_id(id);
  print_field("true,\"result\":{\"now\":", (int32_t)now);
  print_field(",\"set_at\":", (int32_t)set);
  print_field(",\"stopped_at\":", (int32_t)stopped);
  print_field(",\"moves\":", moves);
  print_field(",\"commands\":", set_count);
  print_field(",\"expiries\":", expiry_count);
  print_field(",\"wall\":", wall);
  print_field(",\"fault_at\":", (int32_t)since);
  print_field(",\"heard\":", heard_count);
  serial_print("}}\n");
}

static void distance_read(const char *id) {
  static uint8_t noise;
  if (is_dead) {
    refuse(id, "no echo");
    return;
  }
  if (!is_frozen) {
    cli();
    int32_t wall = wall_um;
    sei();
    noise = (noise + 1) % 3;
    frozen_mm = (int)(wall / 1000) + noise + lie_mm;
  }
  answer_number(id, frozen_mm);
}

int main(void) {
  serial_begin();
  timer_begin();
  serial_print("robot firmware ready\n");
  for (;;) {
    if (!read_line()) {
      refuse("", "line too long");
      continue;
    }
    char *id = value_of("\"id\":\""), *cmd = value_of("\"cmd\":\""), *number = value_of("\"pin\":");
    int pin = number ? atoi(number) : -1;
    cli();
    if (is_counting && id && strncmp(id, "t-", 2)) heard++;
    sei();
    if (!id || !cmd) refuse("", "no command");
    else if (!strncmp(cmd, "ping\"", 5)) answer(id, "\"pong\"");
    else if (!strncmp(cmd, "capabilities\"", 13)) answer(id, "{\"board\":\"arduino-uno\",\"motors\":[5,6]}");
    else if (!strncmp(cmd, "motor_set\"", 10)) motor_set(id);
    else if (!strncmp(cmd, "motor_stop\"", 11)) {
      cli();
      motors_off();
      sei();
      answer(id, "\"done\"");
    } else if (!strncmp(cmd, "distance_read\"", 14)) distance_read(id);
    else if (!strncmp(cmd, "report\"", 7)) report(id);
    else if (!strncmp(cmd, "mark\"", 5)) {
      cli();
      fault();
      sei();
      answer(id, "\"done\"");
    } else if (!strncmp(cmd, "sensor\"", 7)) {
      is_frozen = number_of("\"frozen\":") != 0;
      is_dead = number_of("\"dead\":") != 0;
      lie_mm = (int)number_of("\"lie\":");
      if (value_of("\"wall\":")) {
        cli();
        wall_um = number_of("\"wall\":") * 1000;
        sei();
      }
      cli();
      fault();
      sei();
      answer(id, "\"done\"");
    } else if (!strncmp(cmd, "switch\"", 7)) {
      /* What somebody does to a switch: HIGH or LOW at a pin. */
      if (pin < 0 || !is_usable((uint8_t)pin)) refuse(id, "pin not available");
      else {
        level_of[pin] = number_of("\"value\":") != 0;
        cli();
        fault();
        sei();
        answer(id, "\"done\"");
      }
    } else if (!strncmp(cmd, "gpio_read\"", 10)) {
      if (pin < 0 || !is_usable((uint8_t)pin)) refuse(id, "pin not available");
      else if (pin == BUMPER) {
        cli();
        int32_t wall = wall_um;
        sei();
        answer_number(id, wall > 0);
      } else answer_number(id, level_of[pin]);
    } else refuse(id, "unknown command");
  }
}
