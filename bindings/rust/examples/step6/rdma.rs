// SPDX-License-Identifier: BSD-2-Clause
//! What step 6 needs of IT-API, safe to use: all that is unsafe is in this file.

use itapi_sys::*;
use std::ffi::CStr;
use std::net::TcpStream;
use std::os::raw::{c_int, c_short, c_ulong};
use std::os::unix::io::{AsRawFd, RawFd};
use std::ptr::null_mut;
use std::rc::Rc;

pub const LINE_SIZE: usize = 256;
const TOLD: it_dto_flags_t = IT_COMPLETION_FLAG | IT_NOTIFY_FLAG;

/// A call that has failed.
#[derive(Debug)]
pub struct Error(&'static str, it_status_t);

impl std::fmt::Display for Error {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        // The library's strings are constants.
        let status = unsafe { CStr::from_ptr(itx_status_string(self.1)) };
        write!(out, "{}: {}", self.0, status.to_string_lossy())
    }
}

impl std::error::Error for Error {}

pub type Result<T> = std::result::Result<T, Error>;

fn check(status: it_status_t, call: &'static str) -> Result<()> {
    if status == IT_SUCCESS {
        Ok(())
    } else {
        Err(Error(call, status))
    }
}

/// An Interface Adapter, its zone, and one queue of the events of all connections.
pub struct Adapter {
    ia: it_ia_handle_t,
    pz: it_pz_handle_t,
    evd: it_evd_handle_t,
    fd: c_int,
}

/// What has happened, to the connection of this number.
#[derive(Debug, PartialEq)]
pub enum Event {
    Received(u64, usize),
    Established,
    Ended(usize),
    Other,
}

impl Adapter {
    pub fn open(room: usize) -> Result<Rc<Adapter>> {
        let mut made = Adapter { ia: null_mut(), pz: null_mut(), evd: null_mut(), fd: -1 };
        unsafe {
            check(it_ia_create(b"uiwarp\0".as_ptr().cast(), 2, 1, &mut made.ia), "it_ia_create")?;
            check(it_pz_create(made.ia, &mut made.pz), "it_pz_create")?;
            let streams = ITX_STREAM_DTO | ITX_STREAM_CM_MSG;
            check(
                itx_evd_create_mixed(made.ia, streams, IT_EVD_CREATE_FD, room, 0, null_mut(), &mut made.evd, &mut made.fd),
                "itx_evd_create_mixed",
            )?;
        }
        Ok(Rc::new(made))
    }

    /// For `poll`.
    pub fn fd(&self) -> RawFd {
        self.fd
    }

    fn event(event: &it_event_t) -> Event {
        // Which member counts is told by the number.
        unsafe {
            match event.event_number {
                IT_DTO_RC_RECV_CMPL_EVENT if event.dto_cmpl.dto_status == IT_DTO_SUCCESS => {
                    Event::Received(event.dto_cmpl.cookie, event.dto_cmpl.transferred_length as usize)
                }
                IT_CM_MSG_CONN_ESTABLISHED_EVENT => Event::Established,
                IT_CM_MSG_CONN_DISCONNECT_EVENT
                | IT_CM_MSG_CONN_BROKEN_EVENT
                | IT_CM_MSG_CONN_PEER_REJECT_EVENT
                | IT_CM_MSG_CONN_NONPEER_REJECT_EVENT => Event::Ended(event.conn.ep as usize),
                _ => Event::Other,
            }
        }
    }

    /// The next event, if there is one.
    pub fn next(&self) -> Result<Option<Event>> {
        let mut event: it_event_t = unsafe { std::mem::zeroed() };
        match unsafe { it_evd_dequeue(self.evd, &mut event) } {
            IT_ERR_QUEUE_EMPTY => Ok(None),
            status => check(status, "it_evd_dequeue").map(|()| Some(Adapter::event(&event))),
        }
    }

    pub fn wait(&self) -> Result<Event> {
        let mut event: it_event_t = unsafe { std::mem::zeroed() };
        let status = unsafe { it_evd_wait(self.evd, IT_TIMEOUT_INFINITE, &mut event, null_mut()) };
        check(status, "it_evd_wait").map(|()| Adapter::event(&event))
    }
}

impl Drop for Adapter {
    fn drop(&mut self) {
        unsafe { it_ia_free(self.ia) };
    }
}

/// An endpoint and the memory that is registered for it, which it alone has: a message comes into the first half, and
/// leaves from the second. A receive is always posted.
pub struct Connection {
    ep: it_ep_handle_t,
    lmr: it_lmr_handle_t,
    memory: *mut u8,
    number: u64,
    adapter: Rc<Adapter>,
}

const MEMORY: usize = 2 * LINE_SIZE;

impl Connection {
    pub fn new(adapter: &Rc<Adapter>, number: u64) -> Result<Connection> {
        let memory = Box::into_raw(Box::new([0u8; MEMORY])).cast();
        let mut made = Connection { ep: null_mut(), lmr: null_mut(), memory, number, adapter: adapter.clone() };
        unsafe {
            check(
                it_lmr_create(
                    adapter.pz,
                    memory.cast(),
                    null_mut(),
                    MEMORY as u64,
                    IT_ADDR_MODE_ABSOLUTE,
                    IT_PRIV_LOCAL,
                    IT_LMR_FLAG_NONE,
                    0,
                    &mut made.lmr,
                    null_mut(),
                ),
                "it_lmr_create",
            )?;
            let mut attributes: it_ep_attributes_t = std::mem::zeroed();
            attributes.max_dto_payload_size = LINE_SIZE as _;
            attributes.max_request_dtos = 2;
            attributes.max_recv_dtos = 1;
            attributes.max_send_segments = 1;
            attributes.max_recv_segments = 1;
            let evd = adapter.evd;
            check(it_ep_rc_create(adapter.pz, evd, evd, evd, IT_EP_NO_FLAG, &attributes, &mut made.ep), "it_ep_rc_create")?;
        }
        made.post_recv()?;
        Ok(made)
    }

    fn piece(&self, offset: usize, length: usize) -> it_lmr_triplet_t {
        let mut piece: it_lmr_triplet_t = unsafe { std::mem::zeroed() };
        piece.lmr = self.lmr;
        piece.addr.abs = self.memory.wrapping_add(offset).cast();
        piece.length = length as u64;
        piece
    }

    fn post_recv(&self) -> Result<()> {
        let piece = self.piece(0, LINE_SIZE);
        check(unsafe { it_post_recv(self.ep.cast(), &piece, 1, self.number, TOLD) }, "it_post_recv")
    }

    /// The message of an event `Received`; the next one may come.
    pub fn take(&mut self, length: usize) -> Result<Vec<u8>> {
        assert!(length <= LINE_SIZE);
        // No receive is posted, so nobody writes there.
        let text = unsafe { std::slice::from_raw_parts(self.memory, length) }.to_vec();
        self.post_recv().map(|()| text)
    }

    /// The next message comes when the peer has this one, so a success is of no interest. Until then the peer may be
    /// sent other octets than these, and nothing worse.
    pub fn send(&mut self, text: &[u8]) -> Result<()> {
        assert!(text.len() <= LINE_SIZE);
        let piece = self.piece(LINE_SIZE, text.len());
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), self.memory.add(LINE_SIZE), text.len());
            check(it_post_send(self.ep, &piece, 1, self.number, 0), "it_post_send")
        }
    }

    /// The stream becomes RDMA; it is the library's from here on.
    pub fn convert(&mut self, tcp: TcpStream, last_words: &[u8]) -> Result<()> {
        let status = unsafe { it_socket_convert(tcp.as_raw_fd(), self.ep, IT_SC_DEFAULT, last_words.as_ptr(), last_words.len() as _) };
        check(status, "it_socket_convert")
    }

    pub fn disconnect(&mut self) -> Result<()> {
        check(unsafe { it_ep_disconnect(self.ep, null_mut(), 0) }, "it_ep_disconnect")
    }

    /// As `Event::Ended` has it.
    pub fn id(&self) -> usize {
        self.ep as usize
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let _still_open = &self.adapter;
        unsafe {
            it_ep_free(self.ep); // from here on nobody uses the memory
            it_lmr_free(self.lmr);
            drop(Box::from_raw(self.memory.cast::<[u8; MEMORY]>()));
        }
    }
}

#[repr(C)]
struct PollFd {
    fd: c_int,
    events: c_short,
    revents: c_short,
}

extern "C" {
    fn poll(fds: *mut PollFd, count: c_ulong, timeout: c_int) -> c_int;
}

/// Waits until one of the descriptors is readable, and tells which are.
pub fn readable(fds: &[RawFd]) -> Vec<bool> {
    const POLLIN: c_short = 1;
    let mut watched: Vec<PollFd> = fds.iter().map(|&fd| PollFd { fd, events: POLLIN, revents: 0 }).collect();
    unsafe { poll(watched.as_mut_ptr(), watched.len() as c_ulong, -1) };
    watched.iter().map(|one| one.revents != 0).collect()
}
