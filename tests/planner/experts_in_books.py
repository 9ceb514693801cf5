"""The keys that books, libraries' examples and others gave designs of the benchmark: to be priced beside ours.

Each is read off its source, which docs/planning.md names. Words in templates are shortened where a library makes them;
fields and their order are theirs.
"""

from __future__ import annotations

from keyplan import Index, Key, Number, Unique
from tests.planner import published, published_by_others, published_examples, published_in_books
from tests.planner.experts import Expert, index

__all__ = ["EXPERTS"]

GSI1, GSI2, GSI3, GSI4, GSI5 = (index(f"GSI{number}") for number in range(1, 6))
USERS = Index("USERS", "user_index")
RIDERS = Index("RIDERS", "RIDERS_pk", Number("RIDERS_sk"))

BOOKS = [
    Expert(
        published_in_books.SessionStore,
        (USERS,),
        {
            published_in_books.Token: {
                "primary": Key("{token}", "session"),
                "by_user": Key("{username}", index=USERS),
            }
        },
    ),
    Expert(
        published_in_books.BookShop,
        (GSI1,),
        {
            published_in_books.Buyer: {
                "primary": Key("CUSTOMER#{username}", "CUSTOMER#{username}"),
                "email_claim": Unique("CUSTOMEREMAIL#{email}"),
            },
            published_in_books.Purchase: {
                "primary": Key("CUSTOMER#{username}", "#ORDER#{purchase_id}"),
                "whole": Key("ORDER#{purchase_id}", "ORDER#{purchase_id}", index=GSI1),
            },
            published_in_books.PurchaseLine: {
                "primary": Key("ORDER#{purchase_id}", "ORDER#{purchase_id}#ITEM#{line_id}"),
                "whole": Key("ORDER#{purchase_id}", "ITEM#{line_id}", index=GSI1),
            },
        },
    ),
    Expert(
        published_in_books.BigTimeDeals,
        (GSI1, GSI2, GSI3, USERS),
        {
            published_in_books.Deal: {
                "primary": Key("DEAL#{deal_id}", "DEAL#{deal_id}"),
                "of_day": Key("DEALS#{day}", "DEAL#{deal_id}", index=GSI1),
                "of_brand": Key("BRAND#{brand}#{day}", "DEAL#{deal_id}", index=GSI2),
                "of_category": Key("CATEGORY#{category}#{day}", "DEAL#{deal_id}", index=GSI3),
            },
            published_in_books.Brand: {"primary": Key("BRAND#{brand}", "BRAND#{brand}")},
            published_in_books.BrandLike: {
                "primary": Key("BRANDLIKE#{brand}#{username}", "BRANDLIKE#{brand}#{username}")
            },
            published_in_books.BrandWatch: {"primary": Key("BRANDWATCH#{brand}", "USER#{username}")},
            published_in_books.CategoryLike: {
                "primary": Key("CATEGORYLIKE#{category}#{username}", "CATEGORYLIKE#{category}#{username}")
            },
            published_in_books.Shopper: {
                "primary": Key("USER#{username}", "USER#{username}"),
                "all": Key("USER#{username}", index=USERS),
            },
            published_in_books.Notice: {
                "primary": Key("MESSAGES#{username}", "MESSAGE#{notice_id}"),
                "unread_ones": Key("MESSAGES#{username}", "MESSAGE#{notice_id}", index=GSI1, when={"unread": True}),
            },
        },
        scan_index={"BigTimeDeals.shoppers": "USERS"},
    ),
    Expert(
        published_in_books.Github,
        (GSI1, GSI2, GSI3),
        {
            published_in_books.Account: {
                "primary": Key("ACCOUNT#{account}", "ACCOUNT#{account}"),
                "with_repositories": Key("ACCOUNT#{account}", "ACCOUNT#{account}", index=GSI3),
            },
            published_in_books.Membership: {"primary": Key("ACCOUNT#{organization}", "MEMBERSHIP#{username}")},
            published_in_books.Repository: {
                "primary": Key("REPO#{owner}#{repository}", "REPO#{owner}#{repository}"),
                "with_pulls": Key("REPO#{owner}#{repository}", "REPO#{owner}#{repository}", index=GSI1),
                "forks": Key("REPO#{forked_from}", "FORK#{owner}", index=GSI2),
                "of_account": Key("ACCOUNT#{owner}", "#{updated_at}", index=GSI3),
            },
            published_in_books.Issue: {"primary": Key("REPO#{owner}#{repository}", "ISSUE#{number:010d}")},
            published_in_books.PullRequest: {
                "primary": Key("PR#{owner}#{repository}#{number}", "PR#{owner}#{repository}#{number:010d}"),
                "of_repository": Key("REPO#{owner}#{repository}", "PR#{number:010d}", index=GSI1),
            },
            published_in_books.IssueComment: {
                "primary": Key("ISSUECOMMENT#{owner}#{repository}#{number}", "ISSUECOMMENT#{comment_id}")
            },
            published_in_books.PullRequestComment: {
                "primary": Key("PRCOMMENT#{owner}#{repository}#{number}", "PRCOMMENT#{comment_id}")
            },
            published_in_books.Star: {"primary": Key("REPO#{owner}#{repository}", "STAR#{username}")},
        },
    ),
]

GUIDE = [
    Expert(
        published.Players,
        (),
        {
            published.Player: {"primary": Key("{player_id}", "#METADATA#{player_id}")},
            published.Friend: {"primary": Key("{player_id}", "FRIENDS#{friend_id}")},
            published.PlayerItem: {"primary": Key("{player_id}", "ITEMS#{item_id}")},
        },
    ),
    Expert(
        published.OnlineShop,
        (GSI1, GSI2),
        {
            published.ShopCustomer: {"primary": Key("c#{customer_id}", "c#{customer_id}")},
            published.ShopProduct: {"primary": Key("p#{product_id}", "p#{product_id}")},
            published.Warehouse: {"primary": Key("w#{warehouse_id}", "w#{warehouse_id}")},
            published.Stock: {
                "primary": Key("p#{product_id}", "w#{warehouse_id}"),
                "of_warehouse": Key("w#{warehouse_id}", "p#{product_id}", index=GSI2),
            },
            published.ShopOrder: {"primary": Key("o#{order_id}", "c#{customer_id}")},
            published.OrderItem: {
                "primary": Key("o#{order_id}", "p#{product_id}"),
                "of_product": Key("p#{product_id}", "{ordered_at}", index=GSI1),
                "of_customer": Key("c#{customer_id}", "p#{ordered_at}", index=GSI2),
            },
            published.Invoice: {
                "primary": Key("o#{order_id}", "i#{invoice_id}"),
                "by_id": Key("i#{invoice_id}", "i#{invoice_id}", index=GSI1),
                "of_customer": Key("c#{customer_id}", "i#{invoiced_at}", index=GSI2),
            },
            published.Shipment: {
                "primary": Key("o#{order_id}", "sh#{shipment_id}"),
                "by_id": Key("sh#{shipment_id}", "sh#{shipment_id}", index=GSI1),
                "of_warehouse": Key("w#{warehouse_id}", "sh#{shipment_id}", index=GSI2),
            },
        },
    ),
    Expert(
        published_examples.Skiing,
        (RIDERS,),
        {
            published_examples.Lift: {
                "primary": Key("{lift}", "{day}"),
                "by_riders": Key("{lift}", "{riders}", index=RIDERS),
            }
        },
    ),
    Expert(
        published_examples.Helpdesk,
        (GSI1,),
        {
            published_examples.Company: {"primary": Key("ORG#{company}", "METADATA#{company}")},
            published_examples.CompanyUser: {
                "primary": Key("ORG#{company}", "USER#{username}"),
                "with_tickets": Key("ORG#{company}#USER#{username}", "USER#{username}", index=GSI1),
            },
            published_examples.SupportTicket: {
                "primary": Key("TICKET#{ticket_id}", "TICKET#{ticket_id}"),
                "of_user": Key("ORG#{company}#USER#{username}", "TICKET#{ticket_id}", index=GSI1),
            },
        },
    ),
    Expert(
        published_by_others.Vehicles,
        (),
        {
            published_by_others.Vehicle: {"primary": Key("VIN#{vin}", "#META#")},
            published_by_others.VehicleFeature: {"primary": Key("VIN#{vin}", "FEATURE#{feature}")},
            published_by_others.VehicleDriver: {"primary": Key("VIN#{vin}", "ID#{user_id}")},
            published_by_others.Driver: {"primary": Key("ID#{user_id}", "#META#")},
            published_by_others.DriverVehicle: {"primary": Key("ID#{user_id}", "VIN#{vin}")},
            published_by_others.DriverPreference: {"primary": Key("ID#{user_id}", "PREFERENCES#{feature}")},
            published_by_others.DriverSubscription: {"primary": Key("ID#{user_id}", "F#{state}#{feature}")},
            published_by_others.VehicleSubscription: {"primary": Key("VIN#{vin}", "F#{user_id}#{state}#{feature}")},
        },
    ),
]

LIBRARIES = [
    Expert(
        published_examples.TaskManager,
        (GSI1, GSI2, GSI3, GSI4, GSI5),
        {
            published_examples.Worker: {
                "primary": Key("employee#{employee}", "worker"),
                "coworkers": Key("office#{office}", "worker#{team}#{title}#{employee}", index=GSI1),
                "teams": Key("team#{team}", "worker#{hired_on}#{title}", index=GSI2),
                "lookup": Key("employee#{employee}", "worker", index=GSI3),
                "roles": Key("title#{title}", "worker#{salary:010d}", index=GSI4),
                "reports": Key("manager#{manager}", "worker#{team}#{office}", index=GSI5),
            },
            published_examples.Task: {
                "primary": Key("task#{task}", "task#{project}#{employee}"),
                "of_project": Key("project#{project}", "task#{employee}", index=GSI1),
                "assigned": Key("employee#{employee}", "task#{project}", index=GSI3),
            },
            published_examples.Office: {
                "primary": Key("country#{country}#{state}", "office#{city}"),
                "by_name": Key("office#{office}", "office", index=GSI1),
            },
        },
    ),
    Expert(
        published_examples.Library,
        (GSI1, GSI2, GSI3),
        {
            published_examples.Book: {
                "primary": Key("isbn#{isbn}", "book#{book_id}"),
                "loans": Key("member#{member_id}", "book#{loan_end}", index=GSI1),
                "works": Key("author#{author_last}#{author_first}", "book#{loan_end}", index=GSI2),
                "editions": Key("title#{title}", "book#{released_on}", index=GSI3),
            },
            published_examples.Genre: {
                "primary": Key("isbn#{isbn}", "genre#{genre}#{subgenre}"),
                "categories": Key("genre#{genre}", "genre#{subgenre}", index=GSI1),
            },
            published_examples.Author: {
                "primary": Key("author#{author_last}", "author#{author_first}"),
                "works": Key("author#{author_last}#{author_first}", "author", index=GSI2),
            },
            published_examples.Member: {"primary": Key("member#{member_id}", "member")},
        },
    ),
    Expert(
        published_by_others.Overview,
        (GSI1,),
        {
            published_by_others.TableAccount: {
                "primary": Key("account#{account_id}", "account#"),
                "by_name": Key("account#", "account#{name}#{account_id}", index=GSI1),
            },
            published_by_others.TableUser: {
                "primary": Key("account#{account_id}", "user#{email}"),
                "by_name": Key("user#", "user#{name}#{email}", index=GSI1),
            },
            published_by_others.TableProduct: {
                "primary": Key("product#{product_id}", "product#"),
                "by_name": Key("product#", "product#{name}#{product_id}", index=GSI1),
            },
            published_by_others.TableInvoice: {
                "primary": Key("account#{account_id}", "invoice#{invoice_id}"),
                "by_date": Key("invoice#", "invoice#{issued_at}#{invoice_id}", index=GSI1),
            },
        },
    ),
    Expert(
        published_by_others.BlogSystem,
        (GSI1,),
        {
            published_by_others.Writer: {"primary": Key("USER#{username}", "USER#{username}")},
            published_by_others.WriterPost: {
                "primary": Key("USER#{username}", "POST#{post_id}"),
                "by_published": Key("POSTS#{published}", "POST#{post_id}", index=GSI1),
            },
            published_by_others.WriterComment: {
                "primary": Key("POST#{post_id}", "COMMENT#{comment_id}"),
                "by_user": Key("USER#{username}", "COMMENT#{comment_id}", index=GSI1),
            },
            published_by_others.WriterTag: {
                "primary": Key("POST#{post_id}", "TAG#{tag}"),
                "by_tag": Key("TAG#{tag}", "POST#{post_id}", index=GSI1),
            },
        },
    ),
]

OTHERS = [
    Expert(
        published_by_others.ExamRoom,
        (GSI1, GSI2, GSI3),
        {
            published_by_others.ExamUser: {
                "primary": Key("USER#{email}", "USER#{email}"),
                "by_id": Key("USER#{user_id}", "USER#{user_id}", index=GSI1),
            },
            published_by_others.ExamProject: {
                "primary": Key("ADMIN#{admin_id}", "PROJECT#{project_id}"),
                "by_id": Key("PROJECT#{project_id}", "PROJECT#{project_id}", index=GSI1),
                "newest": Key("ADMIN#{admin_id}", "{created_at}#{project_id}", index=GSI2),
                "by_archived": Key("ADMIN#{admin_id}#STATUS#{archived}", "PROJECT#{project_id}", index=GSI3),
            },
            published_by_others.ExamQuestion: {
                "primary": Key("PROJECT#{project_id}", "QUESTION#{question_id}"),
                "by_id": Key("QUESTION#{question_id}", "QUESTION#{question_id}", index=GSI1),
            },
            published_by_others.ExamAttempt: {
                "primary": Key("CANDIDATE#{candidate_id}", "ATTEMPT#{attempt_id}"),
                "by_id": Key("ATTEMPT#{attempt_id}", "ATTEMPT#{attempt_id}", index=GSI1),
                "in_project": Key("PROJECT#{project_id}", "{started_at}#{attempt_id}", index=GSI2),
            },
            published_by_others.ExamAnswer: {
                "primary": Key("ATTEMPT#{attempt_id}", "ANSWER#{question_id}"),
                "by_id": Key("ANSWER#{answer_id}", "ANSWER#{answer_id}", index=GSI1),
            },
        },
    ),
    Expert(
        published_by_others.Funds,
        (GSI1, GSI2),
        {
            published_by_others.FundDocument: {
                "primary": Key("{document_id}", "DOCUMENT#{version}"),
                "by_version": Key("DOCUMENT#{version}#{document_id}", "METADATA", index=GSI1),
            },
            published_by_others.CapitalActivity: {"primary": Key("{document_id}", "CAPITAL_ACTIVITY#{version}")},
            published_by_others.CapitalCall: {
                "primary": Key("{document_id}", "CAPITAL_CALL#{position_id}"),
                "in_document": Key("CAPITAL_CALL#{position_id}#{document_id}", "LATEST", index=GSI1),
                "of_position": Key("{position_id}", "CAPITAL_CALL#{document_id}", index=GSI2),
            },
            published_by_others.Distribution: {
                "primary": Key("{document_id}", "DISTRIBUTION#{position_id}"),
                "in_document": Key("DISTRIBUTION#{position_id}#{document_id}", "LATEST", index=GSI1),
                "of_position": Key("{position_id}", "DISTRIBUTION#{document_id}", index=GSI2),
            },
            published_by_others.Commitment: {
                "primary": Key("{document_id}", "UNFUNDED_COMMITMENT#{position_id}"),
                "of_position": Key("{position_id}", "UNFUNDED_COMMITMENT#{document_id}", index=GSI2),
            },
        },
    ),
    Expert(
        published_by_others.BlogEngine,
        (GSI1, GSI2),
        {
            published_by_others.Blogger: {
                "primary": Key("USER#{username}", "META#{username}"),
                "by_api_key": Key("APIKEY#{api_key}", "APIKEY", index=GSI1),
            },
            published_by_others.BloggerPost: {
                "primary": Key("USER#{username}", "POST#{slug}"),
                "newest": Key("USER#{username}", "POST#{created_at}", index=GSI1),
                "by_slug": Key("POST#{slug}", "POST#{slug}", index=GSI2),
            },
            published_by_others.BloggerComment: {
                "primary": Key("COMMENT#{comment_id}", "COMMENT#{comment_id}"),
                "of_post": Key("POST#{slug}", "COMMENT#{created_at}", index=GSI2),
            },
        },
    ),
    Expert(
        published_by_others.SocialApp,
        (GSI1,),
        {
            published_by_others.FeedPost: {
                "primary": Key("POST#{post_id}", "POST"),
                "of_feed": Key("FEED#{feed_id}", "POST#{created_at}", index=GSI1),
            },
            published_by_others.FeedComment: {"primary": Key("POST#{post_id}", "COMMENT#{comment_id}")},
            published_by_others.FeedLike: {
                "primary": Key("POST#{post_id}", "LIKE#{user_id}"),
                "of_user": Key("USER#{user_id}", "LIKE#{created_at}", index=GSI1),
            },
            published_by_others.FeedUser: {"primary": Key("USER#{user_id}", "PROFILE")},
            published_by_others.OwnPost: {"primary": Key("USER#{user_id}", "POST#{post_id}")},
        },
    ),
]

EXPERTS = [*BOOKS, *GUIDE, *LIBRARIES, *OTHERS]
