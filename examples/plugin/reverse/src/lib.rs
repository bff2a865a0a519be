// SPDX-License-Identifier: MIT
//
// A plug-in in Rust, without dependencies: the server sends each message back with its bytes in reverse.
//
//   cargo build --release
//   joust race -p target/release/libreverse.so --server threads,epoll -c 100
//
// The types are those of joust/plugin.h.
use std::os::raw::{c_char, c_void};
use std::ptr::null;

#[repr(C)]
pub struct Writer {
    write: extern "C" fn(*mut Writer, *const u8, usize),
}

#[repr(C)]
pub struct Setup {
    options: *const *const c_char,
    payload: usize,
    connection: u64,
}

#[repr(C)]
pub struct Protocol {
    version: u32,
    framing: u32,
    properties: u32,
    options: u32,
    name: *const c_char,
    summary: *const c_char,
    largest: usize,
    largest_payload: usize,
    option: *const c_void,
    objection: Option<extern "C" fn(*const *const c_char) -> *const c_char>,
    cut: Option<extern "C" fn(*const u8, usize) -> usize>,
    open_server: Option<extern "C" fn(*const Setup) -> *mut c_void>,
    close_server: Option<extern "C" fn(*mut c_void)>,
    on_message: extern "C" fn(*mut c_void, *const u8, usize, *mut Writer) -> *const c_char,
    open_client: Option<extern "C" fn(*const Setup) -> *mut Client>,
    close_client: Option<extern "C" fn(*mut Client)>,
    write_request: extern "C" fn(*mut Client, u64, *mut Writer),
    verify: extern "C" fn(*mut Client, u64, *const u8, usize) -> *const c_char,
    reply_size: Option<extern "C" fn(*mut Client, u64) -> usize>,
}

// The pointers lead to constants.
unsafe impl Sync for Protocol {}

const fn text(with_zero: &'static [u8]) -> *const c_char {
    with_zero.as_ptr() as *const c_char
}

fn send(writer: *mut Writer, message: &[u8]) {
    unsafe { ((*writer).write)(writer, message.as_ptr(), message.len()) }
}

// A slice of the bytes that joust lends for a call. The pointer of an empty message may be null.
fn lent<'a>(bytes: *const u8, size: usize) -> &'a [u8] {
    if size == 0 { &[] } else { unsafe { std::slice::from_raw_parts(bytes, size) } }
}

extern "C" fn on_message(_: *mut c_void, bytes: *const u8, size: usize, replies: *mut Writer) -> *const c_char {
    let reversed: Vec<u8> = lent(bytes, size).iter().rev().copied().collect();
    send(replies, &reversed);
    null()
}

pub struct Client {
    connection: u64,
    payload: usize,
}

impl Client {
    // Each request of each connection has bytes of its own, so that a reply to another one is noticed.
    fn message(&self, number: u64) -> impl DoubleEndedIterator<Item = u8> {
        let seed = (self.connection << 32 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (0..self.payload).map(move |i| (seed >> (i % 8 * 8)) as u8 ^ i as u8)
    }
}

extern "C" fn open_client(setup: *const Setup) -> *mut Client {
    let setup = unsafe { &*setup };
    Box::into_raw(Box::new(Client { connection: setup.connection, payload: setup.payload }))
}

extern "C" fn close_client(client: *mut Client) {
    drop(unsafe { Box::from_raw(client) });
}

extern "C" fn write_request(client: *mut Client, number: u64, request: *mut Writer) {
    send(request, &unsafe { &*client }.message(number).collect::<Vec<u8>>());
}

extern "C" fn verify(client: *mut Client, number: u64, bytes: *const u8, size: usize) -> *const c_char {
    let expected = unsafe { &*client }.message(number).rev();
    let right = lent(bytes, size).iter().copied().eq(expected);
    if right { null() } else { text(b"a reply is not its request in reverse\0") }
}

#[no_mangle]
#[allow(non_upper_case_globals)]
pub static joust_protocol: Protocol = Protocol {
    version: 1,
    framing: 1, // JOUST_LENGTH4
    properties: 0,
    options: 0,
    name: text(b"reverse\0"),
    summary: text(b"the server sends each message back in reverse\0"),
    largest: 0, // 1 MiB
    largest_payload: 1 << 20,
    option: null(),
    objection: None,
    cut: None,
    open_server: None,
    close_server: None,
    on_message,
    open_client: Some(open_client),
    close_client: Some(close_client),
    write_request,
    verify,
    reply_size: None,
};
