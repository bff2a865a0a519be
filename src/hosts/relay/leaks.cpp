// SPDX-License-Identifier: MIT
// Open MPI leaves memory of its modules to the end of the process, and has unloaded the modules by then, so
// that no suppression can name them. In a build with sanitizers the relay therefore looks for no leaks; the
// parts that it shares with joust are looked at in joust's own tests.
#if defined(__SANITIZE_ADDRESS__)
extern "C" int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() {
  return 1;
}  // read by the sanitizer at the end of the process
#endif
