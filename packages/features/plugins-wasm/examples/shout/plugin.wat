;; Turns a-z of the input into A-Z. Written by hand: what a plugin is, and nothing else.
(module
  ;; What the host gives. It keeps texts at addresses of its own, which are not those of this module's memory.
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "input_load_u8" (func $input_byte (param i64) (result i32)))
  (import "extism:host/env" "alloc" (func $allocate (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_byte (param i64 i32)))
  (import "extism:host/env" "output_set" (func $set_output (param i64 i64)))

  ;; A call of the tool. 0: all went well.
  (func (export "run") (result i32)
    (local $length i64)
    (local $address i64)
    (local $at i64)
    (local.set $length (call $input_length))
    (local.set $address (call $allocate (local.get $length)))
    (block $done
      (loop $next
        (br_if $done (i64.ge_u (local.get $at) (local.get $length)))
        (call $store_byte
          (i64.add (local.get $address) (local.get $at))
          (call $upper (call $input_byte (local.get $at))))
        (local.set $at (i64.add (local.get $at) (i64.const 1)))
        (br $next)))
    (call $set_output (local.get $address) (local.get $length))
    (i32.const 0))

  ;; Bytes of UTF-8 beyond ASCII stay as they are.
  (func $upper (param $byte i32) (result i32)
    (select
      (i32.sub (local.get $byte) (i32.const 0x20))
      (local.get $byte)
      (i32.lt_u (i32.sub (local.get $byte) (i32.const 0x61)) (i32.const 26)))))
