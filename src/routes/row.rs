//! The constructors and options of the table's rows.

use crate::auth::{Access, Bearer, Board, Callback, Clerk, Guest, Kiosk, Listening, Member, Partner, Staff, Standby};
use crate::http::Answer;
use crate::http::answer::Operation;
use crate::http::body::{Body, BodySchema};
use crate::http::call::Call;
use crate::http::row::{BODY_BYTES_MAX, Row};
use crate::site::Site;
use http::Method;
use std::ops::Deref;

/// A body of the largest usual size, pasted into a form, whose encoding takes up to three bytes for one.
pub(super) const PASTED_BYTES_MAX: usize = 4 * BODY_BYTES_MAX;
/// A list of a megabyte, in the letters in which a page carries it.
pub(super) const LIST_BODY_BYTES_MAX: usize = 24 * BODY_BYTES_MAX;
/// A photo of a camera.
pub(super) const PICTURE_BYTES_MAX: usize = 5 * 1024 * 1024;

/// A row of the table: the properties of its requests, and the operation with its required principal.
pub struct Route {
    /// Method, path and properties.
    pub row: Row,
    /// The operation, by its required principal.
    pub access: Access,
}

impl Deref for Route {
    type Target = Row;

    fn deref(&self) -> &Row {
        &self.row
    }
}

const fn route(access: Access, method: Method, path: &'static str) -> Route {
    let row = Row::new(access.caller_kind(), method, path);
    Route { row, access }
}

pub(super) const fn open(method: Method, path: &'static str, operation: fn(&Site, &Call) -> Answer) -> Route {
    route(Access::Open(operation), method, path)
}

pub(super) const fn member(
    method: Method,
    path: &'static str,
    operation: fn(&Site, &Call, &Member) -> Answer,
) -> Route {
    route(Access::Member(operation), method, path)
}

pub(super) const fn bearer(
    method: Method,
    path: &'static str,
    operation: fn(&Site, &Call, &Bearer) -> Answer,
) -> Route {
    route(Access::Bearer(operation), method, path)
}

pub(super) const fn staff(method: Method, path: &'static str, operation: fn(&Site, &Call, &Staff) -> Answer) -> Route {
    route(Access::Staff(operation), method, path)
}

pub(super) const fn partner(
    method: Method,
    path: &'static str,
    operation: fn(&Site, &Call, &Partner) -> Answer,
) -> Route {
    route(Access::Partner(operation), method, path)
}

pub(super) const fn listening(
    method: Method,
    path: &'static str,
    operation: fn(&Site, &Call, &Listening) -> Answer,
) -> Route {
    route(Access::Listening(operation), method, path)
}

pub(super) const fn callback(method: Method, path: &'static str, operation: Callback) -> Route {
    route(Access::Callback(operation), method, path).open_from_home()
}

pub(super) const fn standby(
    method: Method,
    path: &'static str,
    operation: fn(&Site, &Call, &Standby) -> Answer,
) -> Route {
    route(Access::Standby(operation), method, path)
}

pub(super) const fn page(method: Method, path: &'static str, page: fn(&Site, &Call) -> Answer) -> Route {
    route(Access::Page(page), method, path).ours().at_root()
}

pub(super) const fn desk(method: Method, path: &'static str, page: fn(&Site, &Call, &Clerk) -> Answer) -> Route {
    route(Access::Desk(page), method, path).ours().at_root()
}

pub(super) const fn kiosk(method: Method, path: &'static str, page: fn(&Site, &Call, &Kiosk) -> Answer) -> Route {
    route(Access::Kiosk(page), method, path).ours().at_root()
}

pub(super) const fn board(method: Method, path: &'static str, page: fn(&Site, &Call, &Board) -> Answer) -> Route {
    route(Access::Board(page), method, path).ours().at_root()
}

pub(super) const fn own(method: Method, path: &'static str, page: fn(&Site, &Call, &Member) -> Answer) -> Route {
    route(Access::Own(page), method, path).ours().at_root().open_from_home()
}

pub(super) const fn guest(method: Method, path: &'static str, page: fn(&Site, &Call, &Guest) -> Answer) -> Route {
    route(Access::Guest(page), method, path).ours().at_root()
}

/// Declares options of a row, each with the property that it sets.
macro_rules! options {
    ($($option:ident sets $property:ident;)+) => {$(
        pub(super) const fn $option(mut self) -> Route {
            self.row.$property = true;
            self
        }
    )+};
}

impl Route {
    pub(super) const fn reads<B: Body>(mut self) -> Route {
        self.row.body = Some(BodySchema::of::<B>());
        self
    }

    pub(super) const fn described(mut self, operation: &'static Operation) -> Route {
        self.row.operation = Some(operation);
        self
    }

    pub(super) const fn taking(mut self, body_bytes_max: usize) -> Route {
        self.row.body_bytes_max = body_bytes_max;
        self
    }

    /// For a form that is on another page than the nearest above: the path of that page.
    pub(super) const fn on(mut self, form_page: &'static str) -> Route {
        self.row.form_page = Some(form_page);
        self
    }

    pub(super) const fn at_root(mut self) -> Route {
        self.row.base = "";
        self
    }

    options! {
        hashing sets hashes;
        for_admins sets admins;
        proven sets proven;
        drawing sets draws;
        ending_in_write sets ends_in_write;
        constant_time sets constant_time;
        with_client_id sets client_id;
        signing_request sets signs_request;
        ours sets ours;
        in_clear sets in_clear;
        open_from_home sets from_home;
        when_full sets when_full;
        compressed sets compressed;
        live sets live;
    }
}
